// expect: a learning rate must be a finite number above 0
// facts: named<.*"adagrad"
// facts: at_line<\d+>
// title: A learning rate that is not a number
#include <flowgraph/define.hpp>
#include <limits>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  auto rate = std::numeric_limits<double>::quiet_NaN();
  g.name("train", fg::adagrad(rate).minimize(reduce_sum(square(w))));
});
// end
