// expect: a tensor made inside a branch or a loop's body can't be used outside; let the branch or the body give it
// facts: mul
// title: A tensor that leaves its branch
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  fg::tensor<float> doubled;
  auto y = fg::cond(
      x > 0.f, [&] { return doubled = x * 2.f; }, [&] { return x; });
  g.name("y", y + doubled);
});
// end
