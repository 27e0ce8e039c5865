// expect: a named extent that the step needs is not bound by any feed
// facts: named<.*"ones"
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}>
// title: An extent that no feed binds
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  g.name("ones", fg::ones_like(x));
});

int main() {
  fg::session<model> s;
  // begin
  s.run<"ones">();  // feed "x": it says how many
  // end
}
