// Elements by their positions, in three forms, and the opposite of each: values added up at positions. A position
// outside its axis stops the step.
#pragma once
#include <cstdint>

#include "embedding.hpp"

namespace flowgraph::ops {

struct gather_attrs {
  std::int64_t axis;
};

// x's shape with the axis replaced by the shape of indices.
FLOWGRAPH_CONSTEXPR extents gathered(inference& f, const extents& x, const extents& indices, int axis) {
  f.require(x.rank + indices.rank - 1 <= max_rank, problem::rank_too_high);
  if (f.failed()) return x;
  extents r;
  for (int i = 0; i < axis; ++i) r.push(x[i]);
  for (int i = 0; i < indices.rank; ++i) r.push(indices[i]);
  for (int i = axis + 1; i < x.rank; ++i) r.push(x[i]);
  return r;
}

// (x, indices) -> y[..., i, ...] = x[..., indices[i], ...]
struct gather : op<gather, "gather"> {
  using attrs = gather_attrs;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 1);
    f.out(gathered(f, f.in(0), f.in(1), static_cast<int>(f.attrs<attrs>().axis)), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (indices, dy) -> zeros of the declared shape, with every slice of dy added at its index.
struct gather_gradient : op<gather_gradient, "gather_gradient"> {
  using attrs = gather_attrs;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    const int axis = static_cast<int>(f.attrs<attrs>().axis);
    f.require(f.in(1) == gathered(f, f.declared(), f.in(0), axis), problem::scatter_shape);
    f.out(f.declared(), f.type(1));
  }
  static constexpr void gradient(gradient_step& g) {
    if (g.wants(1)) g.to(1, emit<gather>(g.attrs<attrs>(), g.dy(), g.in(0)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(1)); }
};

constexpr void gather::gradient(gradient_step& g) {
  const ref x = g.in(0);
  if (g.wants(0)) g.to(0, emit_as<gather_gradient>(x.shape(), x.type(), g.attrs<attrs>(), g.in(1), g.dy()));
}

// indices without their last axis, followed by what a position of that many numbers leaves of x.
FLOWGRAPH_CONSTEXPR extents gathered_nd(inference& f, const extents& x, const extents& indices) {
  const extent depth = indices.rank > 0 ? indices.last(0) : 0;
  f.require(indices.rank > 0 && depth >= 1 && depth <= x.rank, problem::gather_indices);
  if (f.failed()) return x;
  extents r = indices;
  --r.rank;
  f.require(r.rank + x.rank - depth <= max_rank, problem::rank_too_high);
  if (f.failed()) return x;
  for (int i = static_cast<int>(depth); i < x.rank; ++i) r.push(x[i]);
  return r;
}

// (x, indices) -> y[i, ...] = x[indices[i, 0], indices[i, 1], ..., ...]
struct gather_nd : op<gather_nd, "gather_nd"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 1);
    f.out(gathered_nd(f, f.in(0), f.in(1)), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (indices, updates) -> zeros of the declared shape, with every update added at its position.
struct scatter_nd : op<scatter_nd, "scatter_nd"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    f.require(f.type(1) != dtype::boolean, problem::dtype_unsupported);
    f.require(f.in(1) == gathered_nd(f, f.declared(), f.in(0)), problem::scatter_shape);
    f.out(f.declared(), f.type(1));
  }
  static constexpr void gradient(gradient_step& g) {
    if (g.wants(1)) g.to(1, emit<gather_nd>(g.dy(), g.in(0)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(1)); }
};

constexpr void gather_nd::gradient(gradient_step& g) {
  const ref x = g.in(0);
  if (g.wants(0)) g.to(0, emit_as<scatter_nd>(x.shape(), x.type(), g.in(1), g.dy()));
}

FLOWGRAPH_CONSTEXPR bool same_but_for(const extents& a, const extents& b, int axis) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (i != axis && a[i] != b[i]) return false;
  return true;
}

// (x, indices) -> y[i, j] = x[i, indices[i, j]] for the last of two axes, and likewise for any other.
struct take_along_axis : op<take_along_axis, "take_along_axis"> {
  using attrs = gather_attrs;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 1);
    f.require(same_but_for(f.in(0), f.in(1), static_cast<int>(f.attrs<attrs>().axis)), problem::along_axis_shape);
    f.out(f.in(1), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (indices, dy) -> zeros of the declared shape, with every element of dy added where it came from.
struct take_along_axis_gradient : op<take_along_axis_gradient, "take_along_axis_gradient"> {
  using attrs = gather_attrs;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    f.require(f.in(0) == f.in(1), problem::same_shape);
    f.out(f.declared(), f.type(1));
  }
  static constexpr void gradient(gradient_step& g) {
    if (g.wants(1)) g.to(1, emit<take_along_axis>(g.attrs<attrs>(), g.dy(), g.in(0)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(1)); }
};

constexpr void take_along_axis::gradient(gradient_step& g) {
  const ref x = g.in(0);
  if (g.wants(0)) g.to(0, emit_as<take_along_axis_gradient>(x.shape(), x.type(), g.attrs<attrs>(), g.in(1), g.dy()));
}

}  // namespace flowgraph::ops
