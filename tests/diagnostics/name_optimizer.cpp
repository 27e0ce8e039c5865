// expect: name takes a text, then a tensor or an operation
// facts: adam
// title: A name for an optimizer
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("loss", reduce_mean(x));
  g.name("train", fg::adam(0.1));
  // end
});
