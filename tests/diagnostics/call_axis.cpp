// expect: argmax takes an axis as a template argument and a tensor, as in argmax<1>\(x\)
// facts: "batch"}, 64>
// title: An axis that is missing
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("class", argmax(x));
  // end
});
