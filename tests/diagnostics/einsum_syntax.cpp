// expect: einsum: the equation must read like
// facts: tensor<float, 3, 4>
// title: An einsum equation that does not parse
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto a = g.placeholder<float, 3, 4>("a");
  auto b = g.placeholder<float, 4, 5>("b");
  g.name("c", einsum<"ij,jk=>ik">(a, b));
  // end
});
