// expect: a layer of this name has its parameters already
// facts: named<.*"hidden"
// facts: at_line<\d+>
// title: Two layers of one name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 2, 8>("x");
  auto h = relu(fg::layers::dense<8>(x, "hidden"));
  g.name("y", fg::layers::dense<8>(h, "hidden"));
});
// end
