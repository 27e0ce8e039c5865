// expect: split: the extent must be a number, which the parts make up exactly
// facts: axes<1>.*"batch"}, 64>
// title: Parts that make up no whole
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto [a, b, c] = split<1, 3>(x);
  g.name("y", relu(a) + b * c);
  // end
});
