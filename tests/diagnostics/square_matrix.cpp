// expect: the last two axes must be equal: a square matrix is needed
// facts: tensor<float, 3, 4>
// title: The inverse of a matrix that is not square
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto a = g.placeholder<float, 3, 4>("a");
  g.name("inverse", matrix_inverse(a));
  // end
});
