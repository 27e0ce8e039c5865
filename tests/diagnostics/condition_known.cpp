// expect: cond takes a boolean scalar tensor, which a step computes; what is known while the graph is built is chosen
// by if facts: bool title: A choice that is known already
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  const bool train = true;
  auto y = fg::cond(
      train, [&] { return x * 2; }, [&] { return x; });
  g.name("y", y);
  // end
});
