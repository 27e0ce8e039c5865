// expect: an element type is float, double, half, bfloat16, int8, uint8, int32, int64 or bool
// facts: unsigned int
// title: Another type of elements
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<unsigned, batch, 64>("x");
  g.name("y", x + 1);
  // end
});
