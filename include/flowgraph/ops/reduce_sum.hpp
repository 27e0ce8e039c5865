// The sum over axes: the one reduction that every gradient of a broadcast needs. The others are in reduction.hpp.
#pragma once
#include <cstdint>

#include "reshape.hpp"

namespace flowgraph::ops {

// Bit i of axes: axis i is reduced. keep: reduced axes stay as extent 1.
struct reduce_attrs {
  std::int64_t axes;
  std::int64_t keep;
};

constexpr bool reduces(const reduce_attrs& a, int axis) { return (a.axes >> axis) & 1; }

FLOWGRAPH_CONSTEXPR extents reduced(const extents& in, const reduce_attrs& a) {
  extents r;
  for (int i = 0; i < in.rank; ++i) {
    if (!reduces(a, i))
      r.push(in[i]);
    else if (a.keep)
      r.push(1);
  }
  return r;
}

// A reduction's result, or a gradient of its shape, repeated to the operand's shape.
FLOWGRAPH_CONSTEXPR ref repeat_to(ref value, ref operand, const reduce_attrs& a) {
  graph_data& g = *value.graph;
  const int kept = a.keep ? value.get().shape : g.intern_shape(reduced(operand.shape(), {a.axes, 1}));
  if (kept != value.get().shape) value.id = g.append(op_def_of<reshape>, kept, value.type(), &value.id, 1);
  if (kept == operand.get().shape) return value;
  return {&g, g.append(op_def_of<broadcast_to>, operand.get().shape, value.type(), &value.id, 1)};
}

// Shape and type rule of every reduction; an axis outside the operand is refused where axes become a mask.
constexpr void infer_reduction(inference& f) { f.out(reduced(f.in(0), f.attrs<reduce_attrs>()), f.type(0)); }

struct reduce_sum : op<reduce_sum, "reduce_sum"> {
  using attrs = reduce_attrs;
  static constexpr trait traits = trait::absorbs;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    infer_reduction(f);
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, repeat_to(g.dy(), g.in(0), g.attrs<attrs>())); }
  static constexpr int simplify(rewriter& r) {
    return r.in(0).get().shape == r.self.get().shape ? r.in(0).id : rewriter::keep;
  }
  static FLOWGRAPH_CONSTEXPR std::int64_t flops(const cost_query& q) {
    std::int64_t n = 1;
    for (int i = 0; i < q.in(0).rank; ++i) n *= q.in(0)[i];
    return n;
  }
};

// dx of an operand x that was broadcast to dy's shape: the sum over the axes it was repeated along.
FLOWGRAPH_CONSTEXPR ref sum_to(ref dy, ref x) {
  if (dy.get().shape == x.get().shape) return dy;
  const graph_data& g = *x.graph;
  const shape_entry &from = g.shapes.data[dy.get().shape], &to = g.shapes.data[x.get().shape];
  const extent *const outer = g.dims.data + from.dims, *const inner = g.dims.data + to.dims;
  const int repeated = from.rank - to.rank;  // leading axes that x does not have
  std::int64_t mask = (std::int64_t{1} << repeated) - 1;
  bool rest_equal = true;
  for (int k = 0; k < to.rank; ++k)
    if (inner[k] != outer[repeated + k]) mask |= std::int64_t{1} << (repeated + k), rest_equal = false;
  if (rest_equal) return emit_like<reduce_sum>(x, {.axes = mask, .keep = 0}, dy);
  const ref sum = emit<reduce_sum>({.axes = mask, .keep = 0}, dy);
  if (sum.get().shape == x.get().shape) return sum;
  return emit_like<reshape>(x, sum);
}

constexpr void broadcast_to::gradient(gradient_step& g) { g.to(0, sum_to(g.dy(), g.in(0))); }

}  // namespace flowgraph::ops
