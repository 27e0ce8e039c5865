// expect: minimize: the loss depends on no trainable variable
// facts: at_line<\d+>
// title: Nothing to train
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  g.name("train", fg::gradient_descent(0.1).minimize(reduce_mean(square(x))));
});
// end
