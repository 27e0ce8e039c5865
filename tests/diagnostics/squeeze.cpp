// expect: squeeze: only an axis of extent 1 can be removed
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 64>
// title: Removing an axis that has elements
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("y", squeeze<1>(x));
  // end
});
