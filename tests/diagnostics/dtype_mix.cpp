// expect: the operands must have the same element type; cast one of them
// facts: tensor<float.*tensor<double
// title: Two element types
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch>("x");
  auto y = g.placeholder<double, batch>("y");
  g.name("z", x + y);
  // end
});
