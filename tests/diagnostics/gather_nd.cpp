// expect: the last extent of the indices must be a number
// facts: tensor<float, 3, 4>
// title: Indices longer than the rank
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, 3, 4>("x");
  auto at = g.placeholder<std::int64_t, batch, 3>("at");
  g.name("picked", gather_nd(x, at));
  // end
});
