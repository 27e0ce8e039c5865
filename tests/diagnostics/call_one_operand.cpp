// expect: matmul takes two tensors, as in matmul\(x, w\)
// facts: "batch"}, 64>
// title: An operand that is missing
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto h = matmul(x);
  g.name("y", relu(h + 1.f));
  // end
});
