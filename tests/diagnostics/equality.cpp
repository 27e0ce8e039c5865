// expect: tensors are compared element by element, by equal\(a, b\) and not_equal\(a, b\)
// facts: "batch"}, 64>
// title: == between tensors
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("zeros", reduce_sum(fg::cast<float>(x == 0.f)));
  // end
});
