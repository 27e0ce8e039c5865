// Convolution. T(x, w, y) = sum of x w y over all places where image, filter and result meet is linear in each of
// the three; conv2d and its two gradients are its derivatives by y, x and w, so each one's gradients are the other
// two, and the family is closed under differentiation.
#pragma once
#include <cstdint>

#include "arithmetic.hpp"
#include "window.hpp"

namespace flowgraph::ops {

// The result's shape for images [n, h, w, ci], or [n, ci, h, w], and filters [kh, kw, ci / groups, co].
FLOWGRAPH_CONSTEXPR extents convolve_shapes(inference& f, const extents& image, const extents& filter, const conv& c) {
  f.require(is_floating(f.type(0)), problem::needs_floating);
  f.require(f.type(0) == f.type(1), problem::dtypes_differ);
  f.require(image.rank == 4 && filter.rank == 4, problem::conv_rank);
  f.require(c.groups >= 1, problem::window_positive);
  if (f.failed()) return image;
  const int height = height_axis(c.layout), channels = channel_axis(c.layout);
  f.require(filter[0] >= 0 && filter[1] >= 0, problem::needs_number);
  f.require(f.symbols.mul(filter[2], c.groups) == image[channels], problem::conv_channels);
  f.require(c.groups == 1 || (filter[3] >= 0 && filter[3] % c.groups == 0), problem::conv_groups);
  extents r = image;
  for (int axis = 0; axis < 2 && !f.failed(); ++axis)
    r[height + axis] = slide(f, image[height + axis], axis_of(c, filter[axis], axis));
  r[channels] = filter[3];
  return r;
}

// Multiplications and additions: each result element meets each tap of its group's filter once.
constexpr std::int64_t convolve_flops(const extents& result, const extents& filter) {
  return 2 * element_count(result) * filter[0] * filter[1] * filter[2];
}

// y[n, i, j, o] = sum over u, v, c of x[n, i s + u d - padding, j s + v d - padding, c] w[u, v, c, o]
struct conv2d : op<conv2d, "conv2d"> {
  static constexpr trait traits = trait::finishes | trait::bounded;
  using attrs = conv;
  static constexpr void infer(inference& f) {
    f.out(convolve_shapes(f, f.in(0), f.in(1), f.attrs<attrs>()), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return convolve_flops(q.out(), q.in(1)); }
};

// (y, w) -> x of the declared shape. Also what conv2d_transpose is.
struct conv2d_input_gradient : op<conv2d_input_gradient, "conv2d_input_gradient"> {
  using attrs = conv;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const extents y = convolve_shapes(f, f.declared(), f.in(1), f.attrs<attrs>());
    f.require(f.in(0) == y, problem::transpose_shape);
    f.out(f.declared(), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return convolve_flops(q.in(0), q.in(1)); }
};

// (x, y) -> w of the declared shape.
struct conv2d_filter_gradient : op<conv2d_filter_gradient, "conv2d_filter_gradient"> {
  using attrs = conv;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const extents y = convolve_shapes(f, f.in(0), f.declared(), f.attrs<attrs>());
    f.require(f.in(1) == y, problem::same_shape);
    f.out(f.declared(), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return convolve_flops(q.in(1), q.out()); }
};

constexpr void conv2d::gradient(gradient_step& g) {
  const ref x = g.in(0), w = g.in(1), dy = g.dy();
  if (g.wants(0)) g.to(0, g.emit_like<conv2d_input_gradient>(x, dy, w));
  if (g.wants(1)) g.to(1, g.emit_like<conv2d_filter_gradient>(w, x, dy));
}
constexpr void conv2d_input_gradient::gradient(gradient_step& g) {
  const ref y = g.in(0), w = g.in(1), dx = g.dy();
  if (g.wants(0)) g.to(0, g.emit_like<conv2d>(y, dx, w));
  if (g.wants(1)) g.to(1, g.emit_like<conv2d_filter_gradient>(w, dx, y));
}
constexpr void conv2d_filter_gradient::gradient(gradient_step& g) {
  const ref x = g.in(0), y = g.in(1), dw = g.dy();
  if (g.wants(0)) g.to(0, g.emit_like<conv2d_input_gradient>(x, y, dw));
  if (g.wants(1)) g.to(1, g.emit_like<conv2d>(y, x, dw));
}

}  // namespace flowgraph::ops
