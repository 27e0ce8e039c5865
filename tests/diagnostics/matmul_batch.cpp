// expect: matmul: the leading axes of both operands must broadcast
// facts: tensor<float, 8, 4, 5>.*tensor<float, 7, 5, 6>
// title: Batches of a matrix product
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto a = g.placeholder<float, 8, 4, 5>("a");
  auto b = g.placeholder<float, 7, 5, 6>("b");
  g.name("y", matmul(a, b));
  // end
});
