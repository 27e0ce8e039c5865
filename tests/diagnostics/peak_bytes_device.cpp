// expect: the memory of a device is asked of one that the model's fg::on_devices lists
// facts: "/cpu:2"
// title: The memory of a device that the model does not run on
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto there = g.device("/cpu:1");
  g.name("y", exp(x));
});

// begin
static_assert(fg::peak_bytes<fg::on_devices<model, "/cpu:0", "/cpu:1">, "/cpu:2">() < 100);
// end
