// expect: variable takes an element type and extents as template arguments, then a name and how it begins
// facts: double
// title: A variable that begins with a number
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 32>("w", 0.5);
  g.name("y", matmul(x, w));
  // end
});
