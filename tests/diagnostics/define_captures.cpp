// expect: define: the lambda must not capture
// facts: lambda
// title: A lambda that captures
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

void build() {
  // begin
  constexpr int units = 3;
  const int depth = 3;
  constexpr auto model = fg::define([depth](fg::graph& g) {
    auto x = g.placeholder<float, batch, units>("x");
    for (int i = 0; i < depth; ++i) x = relu(x);
    g.name("y", x);
  });
  // end
}
