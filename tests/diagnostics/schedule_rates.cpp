// expect: piecewise_constant takes one rate more than boundaries
// title: A schedule with too few rates
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  auto rate = fg::piecewise_constant({1000, 2000}, {0.1, 0.01});
  g.name("train", fg::adam(rate).minimize(reduce_sum(square(w))));
});
// end
