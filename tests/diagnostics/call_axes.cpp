// expect: reduce_sum takes a tensor, and axes as template arguments, as in reduce_sum<1>\(x\)
// facts: "batch"}, 10>
// facts: int, bool
// title: An axis and a choice as arguments
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 10>("x");
  g.name("sum", reduce_sum(x, 1, true));
  // end
});
