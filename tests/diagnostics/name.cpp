// expect: a name must not be empty and must not contain
// facts: named<.*"my weights"
// title: A name with a space
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("my weights");
  g.name("y", w + 1);
});
// end
