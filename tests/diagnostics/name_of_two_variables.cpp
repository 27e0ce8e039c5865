// expect: this name is given already, to another tensor or operation of the graph
// facts: named<.*"w"
// facts: at_line<\d+>
// title: Two variables of one name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto a = g.variable<float, 4>("w");
  auto b = g.variable<float, 5>("w");
  g.name("y", reduce_sum(a) + reduce_sum(b));
});
// end
