// expect: the labels must have the shape of the logits without their last axis
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 10>
// title: Labels that do not fit the logits
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto logits = g.placeholder<float, batch, 10>("logits");
  auto labels = g.placeholder<std::int64_t, batch, 10>("labels");
  g.name("loss", softmax_cross_entropy_with_logits(logits, labels));
  // end
});
