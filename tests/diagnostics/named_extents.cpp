// expect: the shapes do not broadcast
// facts: dim<6>\{"batch"\}.*dim<5>\{"time"\}
// title: Two different names
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};
inline constexpr fg::dim time_steps{"time"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<float, time_steps, 64>("y");
  g.name("z", x * y);
  // end
});
