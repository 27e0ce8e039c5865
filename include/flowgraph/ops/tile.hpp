// A tensor repeated along its axes, or read backwards along them.
#pragma once
#include <cstdint>

#include "reduce_sum.hpp"

namespace flowgraph::ops {

// Axis i comes count[i] times.
struct tile : op<tile, "tile"> {
  struct attrs {
    std::int64_t count[max_rank];
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const attrs a = f.attrs<attrs>();
    extents r = f.in(0);
    for (int i = 0; i < r.rank; ++i) {
      f.require(a.count[i] >= 1, problem::tile_rank);
      r[i] = f.symbols.mul(r[i], a.count[i] < 1 ? 1 : a.count[i]);
    }
    f.out(r, f.type(0));
  }
  // Axis by axis, the copies are summed: [outer, count, n, inner] -> [outer, n, inner]. Not all at once, which would
  // need twice as many axes as a tensor may have.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    const extents x = g.in(0).shape();
    ref dx = g.dy();
    for (int i = 0; i < x.rank; ++i) {
      if (a.count[i] == 1) continue;
      extents left = dx.shape(), right = left;
      left.rank = i;
      extent inner = 1;
      for (int k = i + 1; k < right.rank; ++k) inner = g.graph.symbols.mul(inner, right[k]);
      const extents split{4, {g.graph.symbols.product(left), a.count[i], x[i], inner}};
      dx = emit<reduce_sum>({.axes = 2, .keep = 0}, emit_as<reshape>(split, dx.type(), dx));
      right[i] = x[i];
      dx = emit_as<reshape>(right, dx.type(), dx);
    }
    g.to(0, dx);
  }
  static constexpr int simplify(rewriter& r) {
    return r.in(0).get().shape == r.self.get().shape ? r.in(0).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// Bit i of axes: axis i runs backwards.
struct reverse : op<reverse, "reverse"> {
  struct attrs {
    std::int64_t axes;
  };
  static constexpr void infer(inference& f) { f.out(f.in(0), f.type(0)); }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<reverse>(g.attrs<attrs>(), g.dy())); }
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    const bool undone = r.in(0).is(op_def_of<reverse>) && r.in(0).attrs<attrs>().axes == r.self.attrs<attrs>().axes;
    return undone ? r.in(0).input(0).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
