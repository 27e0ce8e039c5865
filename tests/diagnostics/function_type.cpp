// expect: feed: the data must have the element type of the tensor
// facts: named<.*"x"
// facts: double
// title: Calling a function with another type
#include <flowgraph.hpp>
#include <vector>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("x2", x * 2);
  g.name("y", x * g.placeholder<float>("scale"));
});

int main() {
  fg::function<model, "x2"> f;
  std::vector<double> images(64);
  // begin
  f(images);
  // end
}
