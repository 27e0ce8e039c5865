// expect: this op needs a floating-point operand; cast it
// facts: tensor<int
// title: A function of real numbers on integers
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto n = g.placeholder<std::int32_t, batch>("n");
  g.name("root", sqrt(n));
  // end
});
