// expect: a session of a constexpr model takes names as template arguments, as in fg::feed<"x">\(images\)
// facts: text_feed
// title: A feed by a text
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
  return s.run<"loss">(fg::feed("images", images));
  // end
}
