// expect: integers are divided by floordiv\(a, b\), which rounds down
// facts: tensor<int, 4>
// title: / between integers
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto n = g.placeholder<int, 4>("n");
  g.name("half", n / 2);
  // end
});
