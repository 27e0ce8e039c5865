// Pooling: the largest or the mean element under a window that slides over images. Padding is no element.
#pragma once
#include <cstdint>

#include "arithmetic.hpp"
#include "window.hpp"

namespace flowgraph::ops {

FLOWGRAPH_CONSTEXPR extents pool_shape(inference& f, const extents& image, const pool& p) {
  f.require(is_floating(f.type(0)), problem::needs_floating);
  f.require(image.rank == 4, problem::pool_rank);
  if (f.failed()) return image;
  extents r = image;
  const int height = height_axis(p.layout);
  for (int axis = 0; axis < 2 && !f.failed(); ++axis) {
    const window_axis a = axis_of(p, axis);
    f.require(a.before < a.window && a.after < a.window, problem::pool_padding);  // no window is all padding
    r[height + axis] = slide(f, image[height + axis], a);
  }
  return r;
}

constexpr std::int64_t pool_flops(const extents& result, const pool& p) {
  return element_count(result) * p.window[0] * p.window[1];
}

// Of equal elements the first counts. NaN is larger than all.
struct max_pool : op<max_pool, "max_pool"> {
  using attrs = pool;
  static constexpr trait traits = trait::bounded;
  static constexpr void infer(inference& f) { f.out(pool_shape(f, f.in(0), f.attrs<attrs>()), f.type(0)); }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return pool_flops(q.out(), q.attrs<attrs>()); }
};

// (x, dy) -> dx: each dy goes to where its window's largest x was.
struct max_pool_gradient : op<max_pool_gradient, "max_pool_gradient"> {
  using attrs = pool;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.in(1) == pool_shape(f, f.in(0), f.attrs<attrs>()), problem::same_shape);
    f.out(f.in(0), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return pool_flops(q.in(1), q.attrs<attrs>()); }
};

// (x, z) -> y: from each window the z where x is largest. What max_pool_gradient is the transpose of.
struct max_pool_select : op<max_pool_select, "max_pool_select"> {
  using attrs = pool;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.in(0) == f.in(1), problem::same_shape);
    f.out(pool_shape(f, f.in(0), f.attrs<attrs>()), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) {
    g.to(1, emit<max_pool_gradient>(g.attrs<attrs>(), g.in(0), g.dy()));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return pool_flops(q.out(), q.attrs<attrs>()); }
};

constexpr void max_pool::gradient(gradient_step& g) {
  g.to(0, emit<max_pool_gradient>(g.attrs<attrs>(), g.in(0), g.dy()));
}
// Where the largest x is does not change with a small step of x: only dy carries a gradient.
constexpr void max_pool_gradient::gradient(gradient_step& g) {
  if (g.wants(1)) g.to(1, emit<max_pool_select>(g.attrs<attrs>(), g.in(0), g.dy()));
}

struct avg_pool : op<avg_pool, "avg_pool"> {
  using attrs = pool;
  static constexpr trait traits = trait::bounded;
  static constexpr void infer(inference& f) { f.out(pool_shape(f, f.in(0), f.attrs<attrs>()), f.type(0)); }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return pool_flops(q.out(), q.attrs<attrs>()); }
};

// dy -> dx of the declared shape: each dy is shared out equally over its window's elements.
struct avg_pool_gradient : op<avg_pool_gradient, "avg_pool_gradient"> {
  using attrs = pool;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.in(0) == pool_shape(f, f.declared(), f.attrs<attrs>()), problem::same_shape);
    f.out(f.declared(), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<avg_pool>(g.attrs<attrs>(), g.dy())); }
  static constexpr std::int64_t flops(const cost_query& q) { return pool_flops(q.in(0), q.attrs<attrs>()); }
};

constexpr void avg_pool::gradient(gradient_step& g) { g.to(0, g.emit_like<avg_pool_gradient>(g.in(0), g.dy())); }

// Along one axis y[c] = sum of x[c - radius] to x[c + radius], as far as there are channels: what local response
// normalisation divides by. Symmetric, so it is its own gradient.
struct neighbour_sum : op<neighbour_sum, "neighbour_sum"> {
  struct attrs {
    std::int64_t radius;
    std::int64_t axis;
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    const attrs a = f.attrs<attrs>();
    f.require(a.axis >= 0 && a.axis < f.in(0).rank, problem::operand_rank);
    f.require(a.radius >= 0, problem::parameter_range);
    f.out(f.in(0), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<neighbour_sum>(g.attrs<attrs>(), g.dy())); }
  static constexpr std::int64_t flops(const cost_query& q) { return 2 * element_count(q.out()); }
};

}  // namespace flowgraph::ops
