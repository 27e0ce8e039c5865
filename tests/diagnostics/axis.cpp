// expect: an axis must lie between -rank and rank-1 of the operand
// facts: axes<2>
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>
// title: An axis that is not there
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("s", reduce_sum<2>(x));
  // end
});
