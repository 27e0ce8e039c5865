// expect: placeholder takes an element type and extents as template arguments, then a name
// facts: char *\[2\]
// title: A placeholder without element type and extents
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder("x");
  g.name("y", relu(x));
  // end
});
