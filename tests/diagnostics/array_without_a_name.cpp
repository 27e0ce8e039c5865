// expect: array: what would point into it outlives this temporary array; give the array a name first
// facts: ndarray<float, 2, 3>
// title: A view of an array that is gone
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 2, 3>("w");
  g.name("y", w * 2);
});

int main() {
  fg::session<model> s;
  // begin
  auto y = s.run<"y">().view();
  // end
  return y(0, 0) > 0;
}
