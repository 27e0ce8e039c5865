// expect: a tensor of one element type and shape can't become a tensor of another
// facts: "batch"}, 64>
// facts: "batch"}, 32>
// title: A result of another shape
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 32>("w");
  x = relu(matmul(x, w));
  g.name("y", x);
  // end
});
