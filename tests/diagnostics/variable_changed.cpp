// expect: a variable is changed when a step runs: by assign\(w, value\)
// facts: variable<float, 64>
// title: A variable that is changed by an operator
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto w = g.variable<float, 64>("w");
  w += 1;
  g.name("w2", w * w);
  // end
});
