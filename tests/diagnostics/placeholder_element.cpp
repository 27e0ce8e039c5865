// expect: placeholder takes an element type and extents as template arguments, then a name
// facts: "batch"}, 64
// title: A placeholder without an element type
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<batch, 64>("x");
  g.name("y", relu(x));
  // end
});
