// expect: this op needs a boolean operand; compare with something first
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}>
// title: A condition that is not boolean
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch>("x");
  g.name("y", select(x, 1.0f * x, 0));
  // end
});
