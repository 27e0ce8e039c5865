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

constexpr extents reduced(const extents& in, const reduce_attrs& a) {
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
constexpr ref repeat_to(ref value, ref operand, const reduce_attrs& a) {
  extents kept = reduced(operand.shape(), {a.axes, 1});
  if (!a.keep && !(kept == value.shape())) value = emit_as<reshape>(kept, value.type(), value);
  if (value.get().shape == operand.get().shape) return value;
  return emit_as<broadcast_to>(operand.shape(), value.type(), value);
}

// Shape and type rule of every reduction; an axis outside the operand is refused where axes become a mask.
constexpr void infer_reduction(inference& f) { f.out(reduced(f.in(0), f.attrs<reduce_attrs>()), f.type(0)); }

struct reduce_sum : op<reduce_sum, "reduce_sum"> {
  using attrs = reduce_attrs;
  static constexpr trait traits = trait::absorbs;
  static constexpr void infer(inference& f) {
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    infer_reduction(f);
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, repeat_to(g.dy(), g.in(0), g.attrs<attrs>())); }
  static constexpr int simplify(rewriter& r) {
    return r.in(0).get().shape == r.self.get().shape ? r.in(0).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query& q) {
    std::int64_t n = 1;
    for (int i = 0; i < q.in(0).rank; ++i) n *= q.in(0)[i];
    return n;
  }
};

// dx of an operand x that was broadcast to dy's shape: the sum over the axes it was repeated along.
constexpr ref sum_to(ref dy, ref x) {
  if (dy.get().shape == x.get().shape) return dy;
  const extents from = dy.shape(), to = x.shape();
  std::int64_t mask = 0;
  for (int i = 0; i < from.rank; ++i) {
    const int k = i - (from.rank - to.rank);
    if (k < 0 || (to[k] == 1 && from[i] != 1)) mask |= std::int64_t{1} << i;
  }
  const ref sum = emit<reduce_sum>({.axes = mask, .keep = 0}, dy);
  if (sum.get().shape == x.get().shape) return sum;
  return emit_as<reshape>(to, x.type(), sum);
}

constexpr void broadcast_to::gradient(gradient_step& g) { g.to(0, sum_to(g.dy(), g.in(0))); }

}  // namespace flowgraph::ops
