// expect: define: what the lambda returns is lost
// facts: tensor<float>
// title: Returning a tensor from define
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  return reduce_sum(square(w));
});
// end
