// expect: the count must lie between 1 and the extent of the last axis
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 4>
// title: More than there are
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  auto [values, positions] = top_k<5>(x);
  g.name("best", values);
  // end
});
