// expect: cast takes the element type as a template argument, as in cast<float>\(x\)
// facts: "batch"}, 64>
// title: cast without a type
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = cast(x);
  g.name("y", y * 2.f);
  // end
});
