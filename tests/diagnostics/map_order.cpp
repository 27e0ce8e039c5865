// expect: map takes a function and tensors, as in map\(\[\]\(auto x\) \{ return relu\(x\); \}, xs\)
// facts: "batch"}, 64>
// title: map with its arguments in another order
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = fg::map(x, [](auto row) { return relu(row); });
  g.name("y", relu(y));
  // end
});
