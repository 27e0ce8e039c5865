// expect: while_loop: the condition must give a boolean scalar
// facts: tensor<bool, 4>
// title: A condition that is no scalar
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  // begin
  auto y = fg::while_loop([](auto h) { return h < 10.f; }, [](auto h) { return h * 2.f; }, x);
  // end
  g.name("y", y);
});
