// expect: a device is written like
// facts: named<.*"gpu:0"
// title: A device that is misspelt
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto on_gpu = g.device("gpu:0");
  g.name("w", g.variable<float, 4>("w"));
});
// end
