// expect: dynamic_partition takes the number of parts as a template argument, a tensor and the part of each of its rows
// facts: "batch"}, 64>
// facts: int
// title: The number of parts as an argument
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto ids = g.placeholder<int, batch>("ids");
  auto parts = dynamic_partition(x, ids % 2, 2);
  g.name("y", dynamic_stitch(parts[0].with(relu(parts[0].rows)), parts[1]));
  // end
});
