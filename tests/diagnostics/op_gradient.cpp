// expect: what an op states must read: static constexpr void gradient\(fg::gradient_step&\)
// facts: twice
// title: An op with a gradient of another signature
#include <flowgraph.hpp>
namespace fg = flowgraph;

// begin
struct twice : fg::op<twice, "twice"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
  static constexpr void gradient(fg::inference&) {}
};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  g.name("y", relu(fg::apply<twice>(x)));
});
// end
