// LAYERS convolutions with batch norm, trained with momentum: a model that a compiler's default limits of constant
// evaluation must allow, with its plan. check.py compiles it.
#include <flowgraph.hpp>
#include <string_view>
#include <vector>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto convolutions = fg::define([](fg::graph& g) {
  auto h = g.placeholder<float, batch, 8, 8, 4>("x");
  for (int i = 0; i < LAYERS; ++i) {
    const char name[] = {'l', static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10),
                         static_cast<char>('0' + i % 10)};
    const auto scope = g.scope(std::string_view(name, 4));
    const auto y = fg::layers::conv2d<4, 3, 3, fg::conv{.padding = fg::same}>(h, "conv", {.bias = false});
    h = relu(fg::layers::batch_norm(y, "norm", fg::phase::training));
  }
  const auto loss = g.name("loss", reduce_mean(square(h)));
  g.name("train", fg::momentum(0.01).minimize(loss));
});

float step(fg::session<convolutions>& s, const std::vector<float>& x) {
  return s.run<"loss", "train">(fg::feed<"x">(x));
}
