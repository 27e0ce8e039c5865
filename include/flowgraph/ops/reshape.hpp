// The same elements under another shape, and one value repeated into a larger shape. Each is the other's
// neighbour in gradients: what was repeated is summed, what was summed is repeated.
#pragma once
#include <flowgraph/graph/builder.hpp>
#include "scalar_functions.hpp"

namespace flowgraph::ops {

// Also what expand_dims and squeeze are.
struct reshape : op<reshape, "reshape"> {
  static constexpr trait traits = trait::view;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.symbols.product(f.in(0)) == f.symbols.product(f.declared()), problem::reshape_count);
    f.out(f.declared(), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit_like<reshape>(g.in(0), g.dy())); }
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    if (r.in(0).get().shape == r.self.get().shape) return r.in(0).id;
    if (r.in(0).is(op_def_of<reshape>)) return emit_as<reshape>(r.self.shape(), r.self.type(), r.in(0).input(0)).id;
    return rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// Element-wise: operands are repeated to the shape of the result anyway.
struct broadcast_to : op<broadcast_to, "broadcast_to"> {
  using function = scalar::identity;
  static constexpr trait traits = trait::elementwise;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const extents &from = f.in(0), &to = f.declared();
    f.require(from.rank <= to.rank, problem::broadcast_to);
    for (int i = 0; i < from.rank && i < to.rank; ++i)
      f.require(from.last(i) == to.last(i) || from.last(i) == 1, problem::broadcast_to);
    f.out(to, f.type(0));
  }
  static constexpr void gradient(gradient_step& g);  // reduce_sum.hpp
  static constexpr double fold(const double* x) { return x[0]; }
  static constexpr int simplify(rewriter& r) {
    return r.in(0).get().shape == r.self.get().shape ? r.in(0).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
