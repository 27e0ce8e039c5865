// expect: an operand has the wrong rank for this op
// facts: tensor<float>
// title: Classes drawn from a scalar
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto logit = g.placeholder<float>("logit");
  g.name("drawn", fg::random_categorical<5>(logit));
  // end
});
