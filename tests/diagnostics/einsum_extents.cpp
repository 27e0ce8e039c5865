// expect: einsum: a letter must stand for the same extent wherever it occurs
// facts: tensor<float, 3, 4>.*tensor<float, 5, 6>
// title: A letter with two extents
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto a = g.placeholder<float, 3, 4>("a");
  auto b = g.placeholder<float, 5, 6>("b");
  g.name("c", einsum<"ij,jk->ik">(a, b));
  // end
});
