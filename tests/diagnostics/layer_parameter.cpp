// expect: a variable that is shared must have the element type and extents that it has already
// facts: named<.*"w"
// facts: at_line<\d+>
// title: Sharing a layer with other parameters
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto h = fg::layers::dense<8>(x, "hidden");
  auto same = g.share_variables();
  g.name("y", fg::layers::dense<3>(h, "hidden"));
});
// end
