// expect: function: a call needs one argument for each placeholder
// facts: std::vector<float
// facts: required<.*arguments<.*tensor<float, .*"batch"}, 64
// title: Calling a function with too few arguments
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
  fg::function<model, "y"> f;
  std::vector<float> images(64);
  // begin
  f(images);
  // end
}
