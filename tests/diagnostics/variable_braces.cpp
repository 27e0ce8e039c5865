// expect: variable takes an element type and extents as template arguments, then a name
// facts: float
// title: The extents of a variable as an argument
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float>("w", {64, 32});
  g.name("y", matmul(x, w));
  // end
});
