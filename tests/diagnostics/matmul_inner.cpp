// expect: matmul: the columns of the left operand must equal the rows of the right operand
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>.*tensor<float, 32, 10>
// title: Inner dimensions of a matrix product
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 32, 10>("w");
  g.name("y", matmul(x, w));
  // end
});
