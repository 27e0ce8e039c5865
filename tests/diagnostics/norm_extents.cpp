// expect: scale, offset, mean and variance must have the extents of the axes that are normalised
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>
// title: Scale and offset of another extent
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto scale = g.variable<float, 32>("scale", fg::init::ones());
  auto offset = g.variable<float, 32>("offset");
  g.name("y", layer_norm(x, scale, offset));
  // end
});
