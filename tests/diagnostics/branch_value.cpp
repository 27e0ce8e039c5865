// expect: cond and switch_case: a branch is a function without parameters
// facts: tensor<float>
// title: A branch that is no function
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto s = reduce_sum(x);
  auto y = fg::cond(s > 0, s, -s);
  g.name("y", y * 2.f);
  // end
});
