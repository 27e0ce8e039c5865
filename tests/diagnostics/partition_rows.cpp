// expect: there must be one row for each part, segment or position
// facts: tensor<float, 64, 32>
// facts: "batch"}>
// title: Parts of other rows
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto w = g.variable<float, 64, 32>("w");
  auto ids = g.placeholder<int, batch>("ids");
  auto parts = dynamic_partition<2>(w, ids % 2);
  g.name("y", dynamic_stitch(parts[0].with(relu(parts[0].rows)), parts[1]));
  // end
});
