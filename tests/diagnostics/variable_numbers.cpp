// expect: numbers that a variable begins with stand in fg::init::from
// facts: float ?\[3\]
// title: Numbers of a variable in braces
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto w = g.variable<float, 3>("w", {1.f, 2.f, 3.f});
  g.name("y", w * 2);
  // end
});
