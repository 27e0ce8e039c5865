// expect: transpose: the axes must be a permutation|an axis is named twice
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>
// title: Axes that are no permutation
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("t", transpose<0, 0>(x));
  // end
});
