// expect: layers::dense takes its units as a template argument, a tensor and a name
// facts: "batch"}, 64>
// title: A layer without a name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto h = fg::layers::dense<8>(x);
  g.name("y", relu(h));
  // end
});
