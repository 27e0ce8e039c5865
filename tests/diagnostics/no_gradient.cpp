// expect: gradients: an op between the loss and a variable has no gradient
// facts: named<.*"staircase"
// facts: at_line<\d+>
// title: A gradient through an op that has none
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

struct staircase : fg::op<staircase, "staircase"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  auto loss = reduce_sum(fg::apply<staircase>(w));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});
// end
