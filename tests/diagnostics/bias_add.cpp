// expect: bias_add: the bias must have one element for each channel
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>
// title: A bias of another extent
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto bias = g.variable<float, 32>("bias");
  g.name("y", bias_add(x, bias));
  // end
});
