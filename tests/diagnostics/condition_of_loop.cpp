// expect: a tensor has no value while the graph is built: choose with fg::cond
// facts: tensor<bool>
// title: A tensor as the condition of a loop
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float>("x");
  while (x > 1) x = x / 2;
  g.name("y", x);
  // end
});
