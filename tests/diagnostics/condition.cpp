// expect: a tensor has no value while the graph is built: choose with fg::cond
// facts: "batch"}, 64>
// title: if on a tensor
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = x;
  if (x > 0) y = -x;
  g.name("y", y);
  // end
});
