// expect: concat: the operands must agree in every extent but the one that is joined
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 3>.*tensor<float, [a-z:]*dim<6>\{"batch"\}, 4>
// title: Joining tensors that do not fit
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto a = g.placeholder<float, batch, 3>("a");
  auto b = g.placeholder<float, batch, 4>("b");
  g.name("joined", concat<0>(a, b));
  // end
});
