// expect: this update never runs, because no name leads to it
// facts: named<.*"adam"
// facts: at_line<\d+>
// title: An update without a name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  auto loss = g.name("loss", reduce_sum(square(w)));
  [[maybe_unused]] auto train = fg::adam(0.1).minimize(loss);
});
// end
