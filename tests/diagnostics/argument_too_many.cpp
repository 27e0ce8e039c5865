// expect: this function has no such argument: axes, sizes and options are template arguments, as in reduce_sum<1>\(x\)
// facts: int
// title: An axis, or anything else that does not belong there, as an argument
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto p = g.placeholder<float, batch, 10>("p");
  auto label = g.placeholder<float, batch, 10>("label");
  g.name("loss", reduce_mean(-reduce_sum(label * log(p), 1)));
  // end
});
