// expect: assign: the value must have the element type and shape of the variable
// facts: tensor<float, 4, 4>.*tensor<float, 4>
// title: Assigning something else
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto w = g.variable<float, 4, 4>("w");
  auto row = g.placeholder<float, 4>("row");
  g.name("set", assign(w, row));
  // end
});
