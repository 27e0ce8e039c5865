// expect: layers::dense takes its units as a template argument, a tensor and a name
// facts: "batch"}, 64>
// facts: bool
// title: An option that is not in braces
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto h = fg::layers::dense<8>(x, "hidden", false);
  g.name("h", relu(h));
  // end
});
