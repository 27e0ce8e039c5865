// expect: a device of a session must be a CPU, written like
// facts: named<.*"/gpu:0"
// title: A session's device that is no CPU
#include <array>
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto there = g.device("/cpu:1");
  g.name("y", exp(x));
});

int main() {
  // begin
  fg::session<fg::on_devices<model, "/cpu:0", "/gpu:0">> s;
  // end
  s.run<"y">(fg::feed<"x">(std::array{1.f, 2.f, 3.f, 4.f}));
}
