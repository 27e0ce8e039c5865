// expect: minimize takes a loss, which is a scalar tensor, as in minimize\(loss\)
// facts: char *\[5\]
// title: minimize by name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("loss", reduce_mean(x));
  g.name("train", fg::adam(0.1).minimize("loss"));
  // end
});
