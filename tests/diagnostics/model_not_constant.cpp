// expect: the model of a session must be a constant of the compiler's; define it as inline constexpr auto model
// facts: model<
// title: A session of a model that is no constant
#include <flowgraph.hpp>
namespace fg = flowgraph;

inline const auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 4>("w");
  g.name("y", w * 2);
});

// begin
float first(fg::session<model>& s) {
  fg::ndarray<float, 4> y = s.run<"y">();
  return y[0];
}
// end

int main() {
  fg::session<model> s;
  fg::function<model, "y"> f;
  return first(s) > 0;
}
