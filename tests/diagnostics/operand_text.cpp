// expect: an operand of a tensor must be a tensor of its element type, or a number
// facts: char *\[2\]
// title: An operand that is neither tensor nor number
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = x + "b";
  g.name("y", relu(y));
  // end
});
