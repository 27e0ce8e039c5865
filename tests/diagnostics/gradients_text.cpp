// expect: gradients takes a loss and the tensors that it is derived by, as in gradients\(loss, w\)
// facts: char *\[2\]
// title: gradients by name
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("dx", fg::gradients(reduce_sum(x), "x"));
  // end
});
