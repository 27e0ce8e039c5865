// expect: the numbers that a variable begins with must have its extents
// facts: named<.*"w"
// title: A variable that begins with too few numbers
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr float table[2][2] = {{1, 2}, {3, 4}};
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 2, 3>("w", fg::init::from(table));
  g.name("y", w * 2);
});
// end
