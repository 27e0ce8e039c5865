// expect: reshape: only one extent may be -1, for what the others leave
// facts: "batch"}, 64>
// title: Two extents of -1
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("y", fg::reshape<-1, -1, 4>(x));
  // end
});
