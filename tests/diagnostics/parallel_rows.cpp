// expect: parallel_iterations: the leading extent must be a number, at least that of the loops
// facts: tensor<float, [a-z:]*dim<5>\{"rows"\}, 2>
// title: Parts of rows whose number is not known
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim rows{"rows"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto xs = g.placeholder<float, rows, 2>("xs");
  // begin
  auto y = fg::map(
      fg::parallel_iterations<4>{}, [](auto x) { return x * 2.f; }, xs);
  // end
  g.name("y", y);
});
