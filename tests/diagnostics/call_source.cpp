// expect: random_normal takes an element type and extents as template arguments, and the graph
// facts: given|X
// title: Random numbers without the graph
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto noise = fg::random_normal<float, 64>();
  g.name("y", x + noise);
  // end
});
