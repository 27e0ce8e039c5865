// expect: an op has no kernel for this element type on this device
// facts: named<.*"matrix_inverse"|op_named<.*"matrix_inverse"
// title: An op that has no kernel for 16 bits
#include <flowgraph.hpp>
#include <vector>
namespace fg = flowgraph;

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto a = g.placeholder<fg::half, 3, 3>("a");
  g.name("inverse", matrix_inverse(a));
});

int main() {
  fg::session<model> s;
  std::vector<fg::half> matrix(9);
  // begin
  s.run<"inverse">(fg::feed<"a">(matrix));
  // end
}
