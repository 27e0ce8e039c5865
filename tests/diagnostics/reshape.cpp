// expect: reshape: the new shape must have as many elements as the operand
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 8, 9>
// title: A reshape that loses elements
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("images", reshape<batch, 8, 9>(x));
  // end
});
