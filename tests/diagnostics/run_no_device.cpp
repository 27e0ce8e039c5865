// expect: the graph asks for a device that this session does not have
// facts: named<.*"y".*required<.*"/cpu:1"
// title: A device that the session does not have
#include <array>
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto there = g.device("/cpu:1");
  g.name("y", exp(x));
});

int main() {
  fg::session<fg::on_devices<model, "/cpu:0", "/cpu:2">> s;
  // begin
  s.run<"y">(fg::feed<"x">(std::array{1.f, 2.f, 3.f, 4.f}));
  // end
}
