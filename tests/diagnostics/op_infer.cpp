// expect: an op states its shape and type rule, which the compiler runs
// facts: twice
// title: An op without a rule
#include <flowgraph.hpp>
namespace fg = flowgraph;

// begin
struct twice : fg::op<twice, "twice"> {};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  g.name("y", relu(fg::apply<twice>(x)));
});
// end
