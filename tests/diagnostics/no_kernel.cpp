// expect: an op has no kernel for this element type on this device
// facts: named<.*"staircase"|op_named<.*"staircase"
// title: An op that has no kernel
#include <array>
#include <flowgraph.hpp>
#include <vector>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

struct staircase : fg::op<staircase, "staircase"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 10>("w");
  auto y = g.name("y", matmul(x, w));
  g.name("unused", g.placeholder<float, batch>("z") + 1);
  g.name("train", fg::gradient_descent(0.1).minimize(reduce_mean(square(y))));
  g.name("stairs", fg::apply<staircase>(x));
});

int main() {
  fg::session<model> s;
  std::vector<float> images(64);
  // begin
  s.run<"stairs">(fg::feed<"x">(images));
  // end
}
