// expect: the loss must be a scalar; reduce it first
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}>
// title: A loss with elements
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  auto w = g.variable<float, 4, 1>("w");
  auto loss = square(reduce_sum<1>(matmul(x, w)));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
  // end
});
