// expect: the loss must be floating-point
// facts: tensor<long
// title: The gradient of an integer
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  auto best = reduce_sum(argmax<1>(x));
  g.name("dx", gradients(best, x));
  // end
});
