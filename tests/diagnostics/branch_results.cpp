// expect: cond: both branches must give the same number of tensors, of the same element types and shapes
// facts: tensor<float, 3>
// facts: tensor<float, 4>
// title: Branches that give different shapes
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

constexpr auto model = fg::define([](fg::graph& g) {
  auto p = g.placeholder<bool>("p");
  auto a = g.placeholder<float, 3>("a");
  auto b = g.placeholder<float, 4>("b");
  // begin
  auto y = fg::cond(
      p, [&] { return a; }, [&] { return b; });
  // end
  g.name("y", y);
});
