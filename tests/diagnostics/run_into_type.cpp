// expect: run_into: there must be one target for each value, of the type that run gives, or an fg::ndview of an array
// facts: double
// title: A result of another type
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("y", reduce_sum(x));
});

int main() {
  fg::session<model> s;
  fg::ndarray<float, 32, 64> x;
  // begin
  double y = 0;
  s.run_into<"y">(y, fg::feed<"x">(x));
  // end
}
