// expect: a variable that begins as identity must be a matrix, and one that begins orthogonal needs two axes or more
// facts: named<.*"bias"
// title: An initial value that the shape does not allow
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto b = g.variable<float, 10>("bias", fg::init::identity());
  g.name("y", b * 2);
});
// end
