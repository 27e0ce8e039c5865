// A chain of element-wise ops, which becomes one kernel: tanh(x a + b) sigmoid(x) + exp(-x x).
#include "prepared.hpp"

namespace fg = flowgraph;

template <int N>
inline constexpr auto chain = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, N>("x");
  auto a = g.variable<float, N>("a");
  auto b = g.variable<float, N>("b");
  g.name("y", tanh(x * a + b) * sigmoid(x) + exp(-x * x));
});

template <int N>
bench::step row(int threads) {
  auto s = bench::prepared<chain<N>>(threads);
  s->template set<"a">(bench::numbers(N, 1, 1));
  s->template set<"b">(bench::numbers(N, 2, 1));
  return [s, x = bench::numbers(N, 0, 2)] { return s->template run<"y">(fg::feed<"x">(x))(N - 1); };
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"chain_4k", row<4096>}, {"chain_1m", row<1 << 20>}});
}
