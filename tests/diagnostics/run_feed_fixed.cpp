// expect: feed: the data must have the shape of the tensor
// facts: named<.*"x"
// facts: Matrix<float, 5, 3
// title: Feeding a matrix of another shape
#include <Eigen/Core>
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) { g.name("y", g.placeholder<float, batch, 4>("x") * 2); });

int main() {
  fg::session<model> s;
  // begin
  Eigen::Matrix<float, 5, 3> m;
  s.run<"y">(fg::feed<"x">(m));
  // end
}
