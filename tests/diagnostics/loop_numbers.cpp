// expect: while_loop takes a condition, a body and what the variables begin with, of which one at least is a tensor
// facts: int, float
// title: A loop of numbers alone
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto [i, s] = fg::while_loop([](auto i, auto) { return i < 5; },
                               [](auto i, auto s) { return std::tuple(i + 1, s * 2.f); }, 0, 1.0f);
  g.name("s", s);
  // end
});
