// expect: the window does not fit into the padded image
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 4, 4, 1>
// title: A window larger than the image
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto images = g.placeholder<float, batch, 4, 4, 1>("images");
  auto filter = g.variable<float, 7, 7, 1, 16>("filter");
  g.name("features", conv2d<fg::conv{.padding = fg::valid}>(images, filter));
  // end
});
