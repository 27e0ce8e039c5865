// expect: relu takes a tensor, as in relu\(x\)
// facts: char *\[2\]
// title: Text instead of a tensor
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto h = fg::relu("x");
  auto w = g.variable<float, 64, 10>("w");
  g.name("loss", reduce_mean(square(matmul(h, w))));
  // end
});
