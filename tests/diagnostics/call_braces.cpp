// expect: concat takes its tensors one by one, without braces, as in concat<1>\(a, b\)
// facts: "batch"}, 64>
// title: Tensors in braces
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = fg::concat<1>({x, x});
  g.name("y", relu(y));
  // end
});
