// expect: constant takes an element type and extents as template arguments, then a number
// facts: array
// title: A constant of a container
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};
#include <array>

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto c = g.constant<float>(std::array<float, 2>{1, 2});
  g.name("y", x * c);
  // end
});
