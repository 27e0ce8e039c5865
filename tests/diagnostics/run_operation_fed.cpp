// expect: run: an operation has no value and can't be fed
// facts: named<.*"train"
// title: Feeding an operation
#include <array>
#include <flowgraph.hpp>
#include <vector>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 10>("w");
  auto y = g.name("y", matmul(x, w));
  g.name("unused", g.placeholder<float, batch>("z") + 1);
  g.name("train", fg::gradient_descent(0.1).minimize(reduce_mean(square(y))));
});

int main() {
  fg::session<model> s;
  std::vector<float> images(64);
  // begin
  s.run<"y">(fg::feed<"x">(images), fg::feed<"train">(images));
  // end
}
