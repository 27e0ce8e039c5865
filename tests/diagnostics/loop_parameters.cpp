// expect: while_loop: condition and body are functions with one parameter for each loop variable
// facts: tensor<int>
// facts: "batch"}, 64>
// title: A loop body with too few parameters
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto [i, y] = fg::while_loop([](auto i, auto) { return i < 5; }, [](auto i) { return i + 1; }, g.constant<int>(0), x);
  g.name("y", relu(y));
  // end
});
