// expect: reshape takes extents as template arguments, as in reshape<batch, 64>\(x\)
// facts: "batch"}, 64>
// title: A shape as an argument
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = reshape(x, {8, 8});
  g.name("y", relu(y));
  // end
});
