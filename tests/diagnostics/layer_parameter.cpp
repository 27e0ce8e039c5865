// expect: a layer of this name has a parameter of another shape or type
// facts: named<.*"w"
// facts: at_line<\d+>
// title: Two layers of one name with different parameters
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto h = fg::layers::dense<8>(x, "hidden");
  g.name("y", fg::layers::dense<3>(h, "hidden"));
});
// end
