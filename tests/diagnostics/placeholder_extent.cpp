// expect: an extent must be between 0 and 2\^31-1; one that only feeds tell has a name
// facts: canonical|in_range
// title: An extent of -1
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, -1, 64>("x");
  g.name("y", relu(x));
  // end
});
