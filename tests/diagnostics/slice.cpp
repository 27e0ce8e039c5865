// expect: slice: begin and size must lie within the operand
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 4>
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 3>
// title: A slice that leaves the tensor
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  g.name("columns", slice<fg::from<0, 2>, batch, 3>(x));
  // end
});
