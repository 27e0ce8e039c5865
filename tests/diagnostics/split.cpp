// expect: split: the extent must be a number, which the parts make up exactly
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 10>
// title: Parts that do not divide
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 10>("x");
  auto parts = split<1, 3>(x);
  g.name("first", std::get<0>(parts));
  // end
});
