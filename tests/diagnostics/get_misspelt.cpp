// expect: the model has no tensor or operation of this name
// facts: "weight"
// facts: did_you_mean<.*"weights"
// title: A misspelt variable
#include <flowgraph.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("images");
  auto w = g.variable<float, 4, 2>("weights");
  g.name("loss", reduce_mean(square(matmul(x, w))));
});

float step(fg::session<model>& s, const std::vector<float>& images) {
  // begin
  return s.get<"weight">()(0, 0);
  // end
}
