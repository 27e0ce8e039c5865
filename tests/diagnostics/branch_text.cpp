// expect: what a branch or a body gives must be a tensor, a number, an operation, or a std::tuple of them
// facts: char *\*
// title: A branch that gives text
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto s = reduce_sum(x);
  auto y = fg::cond(
      s > 0, [&] { return "s"; }, [&] { return s; });
  g.name("y", y * 2.f);
  // end
});
