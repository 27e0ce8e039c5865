// expect: define takes a lambda of a reference to the graph
// facts: lambda
// title: A lambda that takes the graph by value
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph g) {
  auto x = g.placeholder<float, batch, 64>("x");
  g.name("y", relu(x));
});
// end
