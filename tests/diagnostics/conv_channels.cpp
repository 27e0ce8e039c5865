// expect: convolution: the filter's input channels times the groups must equal the image's channels
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 28, 28, 3>.*tensor<float, 3, 3, 1, 16>
// title: A filter for other channels
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto images = g.placeholder<float, batch, 28, 28, 3>("images");
  auto filter = g.variable<float, 3, 3, 1, 16>("filter");
  g.name("features", conv2d(images, filter));
  // end
});
