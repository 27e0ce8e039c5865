// expect: scan, fold and map: the tensors must have the same leading extent
// facts: tensor<float, 8, 2>
// facts: tensor<float, 9, 2>
// title: Rows of tensors that differ in number
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

constexpr auto model = fg::define([](fg::graph& g) {
  auto a = g.placeholder<float, 8, 2>("a");
  auto b = g.placeholder<float, 9, 2>("b");
  // begin
  auto y = fg::map([](auto x, auto z) { return x + z; }, a, b);
  // end
  g.name("y", y);
});
