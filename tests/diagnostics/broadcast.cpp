// expect: the shapes do not broadcast
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>.*tensor<float, 32>
// title: Shapes that do not broadcast
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto b = g.variable<float, 32>("b");
  g.name("y", x + b);
  // end
});
