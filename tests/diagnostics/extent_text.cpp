// expect: an extent is a number or a constant of fg::dim, as in inline constexpr fg::dim batch
// facts: float
// title: Text as an extent
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, "batch", 64>("x");
  g.name("y", relu(x));
  // end
});
