// LAYERS residual layers with gradient, momentum updates and the plan of a training step, all made by the compiler:
// what bench/compile times. With SESSION there is also the session that runs the step.
#ifdef SESSION
#include <flowgraph.hpp>
#include <vector>
#else
#include <flowgraph/define.hpp>
#endif
#include <string_view>

#ifndef LAYERS
#define LAYERS 50
#endif

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto residual = fg::define([](fg::graph& g) {
  auto h = g.placeholder<float, batch, 64>("x");
  for (int i = 0; i < LAYERS; ++i) {
    const char name[] = {static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10),
                         static_cast<char>('0' + i % 10)};
    const auto scope = g.scope(std::string_view(name, 3));
    auto w1 = g.variable<float, 64, 64>("w1", fg::init::he_normal());
    auto w2 = g.variable<float, 64, 64>("w2", fg::init::he_normal());
    h = relu(h + matmul(relu(matmul(h, w1)), w2));
  }
  auto loss = reduce_mean(square(h));
  g.name("loss", loss);
  g.name("train", fg::momentum(0.01).minimize(loss));
});

static_assert(residual.nodes() > 20 * LAYERS);
#ifdef SESSION
int main() {
  fg::session<residual> s;
  const float loss = s.run<"loss", "train">(fg::feed<"x">(std::vector<float>(64)));
  return loss > 0 ? 0 : 1;
}
#else
static_assert(fg::plan_of<residual, fg::fetch<"loss", "train">, fg::fetch<"x">>.view().instructions.size() >
              10 * LAYERS);

int main() { return 0; }
#endif
