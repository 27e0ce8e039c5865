// expect: scan, fold, map and repeat: the function has one parameter for each state
// facts: tensor<float, 64>
// title: A function of rows with too few parameters
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, 8, 64>("x");
  auto sum = fg::fold([](auto s) { return s; }, reduce_sum<0>(x), x);
  g.name("sum", sum);
  // end
});
