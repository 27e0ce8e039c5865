// expect: the first operand must be a variable, which this op changes
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}>
// title: Assigning to a value
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch>("x");
  g.name("double", assign_add(x, x));
  // end
});
