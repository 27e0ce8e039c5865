// expect: cond and switch_case: the choice must be a scalar, boolean for cond and int32 or int64 for switch_case
// facts: tensor<bool, 3>
// title: A choice that is no scalar
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 3>("x");
  // begin
  auto y = fg::cond(
      x > 0.f, [&] { return x; }, [&] { return -x; });
  // end
  g.name("y", y);
});
