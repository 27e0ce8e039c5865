// expect: a number with a fraction can't be combined with an integer tensor
// facts: tensor<int>.*double
// title: A fraction next to an integer tensor
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto n = g.placeholder<std::int32_t, batch>("n");
  g.name("half", n * 0.5);
  // end
});
