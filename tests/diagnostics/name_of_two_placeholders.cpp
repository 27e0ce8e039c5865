// expect: this name is given already, to another tensor or operation of the graph
// facts: named<.*"x"
// facts: at_line<\d+>
// title: Two placeholders of one name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto a = g.placeholder<float, 4>("x");
  auto b = g.placeholder<float, 4, 2>("x");
  g.name("y", reduce_sum(a) + reduce_sum(b));
});
// end
