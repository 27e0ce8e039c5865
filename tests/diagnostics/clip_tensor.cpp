// expect: clip_by_value takes an optimizer's list of gradients
// facts: "batch"}, 64>
// title: A tensor where gradients are limited
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("y", clip_by_value(x, 0.0, 1.0));
  // end
});
