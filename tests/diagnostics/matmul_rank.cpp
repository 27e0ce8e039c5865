// expect: an operand has the wrong rank
// facts: tensor<float, 64>
// title: A matrix product of something that is no matrix
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto b = g.variable<float, 64>("b");
  g.name("y", matmul(x, b));
  // end
});
