// expect: concat|the shapes do not broadcast
// facts: 2\*batch
// title: Extents computed from names
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  auto twice = concat<0>(x, x);
  g.name("y", twice + x);
  // end
});
