// expect: while_loop: the body must give one tensor for each loop variable, of its element type and shape
// facts: tensor<float, 2, 4>
// facts: tensor<float, 2, 5>
// title: A loop variable that changes its shape
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 2, 4>("x");
  auto w = g.variable<float, 4, 5>("w");
  auto zero = g.constant<int>(0);
  // begin
  auto [turns, y] = fg::while_loop([](auto i, auto) { return i < 10; },
                                   [&](auto i, auto h) { return std::tuple(i + 1, fg::matmul(h, w)); }, zero, x);
  // end
  g.name("y", y);
});
