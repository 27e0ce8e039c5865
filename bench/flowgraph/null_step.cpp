// What a step costs beside its work: a fed scalar plus a variable.
#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr auto sum = fg::define(
    [](fg::graph& g) { g.name("y", g.placeholder<float>("x") + g.variable<float>("v", fg::init::constant(2))); });

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"null_step", [](int threads) -> bench::step {
                                      auto s = bench::prepared<sum>(threads);
                                      return [s] { return s->run<"y">(fg::feed<"x">(1.0f)); };
                                    }}});
}
