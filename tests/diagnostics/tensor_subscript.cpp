// expect: a tensor has no elements while the graph is built: take them with fg::slice
// facts: "batch"}, 64>
// title: An element of a tensor
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto first = x[0];
  g.name("y", relu(first) + 1);
  // end
});
