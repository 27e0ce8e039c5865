// expect: this function has no such argument: axes, sizes and options are template arguments
// facts: "batch"}, 64>
// facts: int, int
// title: The order of axes as arguments
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("turned", transpose(x, 1, 0));
  // end
});
