// title: weights of a sampled softmax the other way round
// expect: sampled_softmax_loss: weights are \[classes, units\], biases \[classes\], inputs \[batch, units\], labels
// \[batch\] facts: 16, 5000
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto h = g.placeholder<float, batch, 16>("h");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w = g.variable<float, 16, 5000>("w");
  auto b = g.variable<float, 5000>("b");
  g.name("loss", reduce_mean(fg::sampled_softmax_loss(w, b, h, y, fg::log_uniform_candidates<64>(w))));
});
// end
