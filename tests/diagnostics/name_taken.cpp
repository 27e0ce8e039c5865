// expect: this name is given already, to another tensor or operation of the graph
// facts: named<.*"loss"
// facts: at_line<\d+>
// title: One name for two tensors
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  auto loss = g.name("loss", reduce_sum(square(w)));
  g.name("loss", loss * 0.5f);
});
// end
