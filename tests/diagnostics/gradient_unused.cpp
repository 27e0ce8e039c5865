// expect: gradients: the loss does not use this tensor
// facts: named<.*"variable"
// facts: at_line<\d+>
// title: A gradient by a tensor that the loss does not use
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  auto b = g.variable<float, 4>("b");
  auto loss = g.name("loss", reduce_sum(square(w)));
  g.name("slope", fg::gradients(loss, b));
});
// end
