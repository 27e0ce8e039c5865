// Order: sorting, the greatest few, where the greatest and the least are. Positions carry no gradient; values do, by
// taking the elements at those positions.
#pragma once
#include <cstdint>

#include "gather.hpp"

namespace flowgraph::ops {

// The positions that sort x along an axis, int64. Stable; NaN comes last.
struct argsort : op<argsort, "argsort"> {
  struct attrs {
    std::int64_t axis;
    std::int64_t descending;
  };
  static constexpr trait traits = trait::zero_gradient;
  static constexpr void infer(inference& f) { f.out(f.in(0), dtype::int64); }
};

// The k greatest along the last axis, greatest first, and their positions (int64); of equals the first comes first.
struct top_k : op<top_k, "top_k"> {
  struct attrs {
    std::int64_t k;
  };
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    extents r = f.in(0);
    const extent k = f.attrs<attrs>().k;
    f.require(r.rank >= 1, problem::operand_rank);
    if (r.rank >= 1) {
      f.require(k >= 1, problem::count_out_of_range);
      f.require_room(r.last(0), 0, k, problem::count_out_of_range);
      r[r.rank - 1] = k;
    }
    f.out(r, f.type(0));
    f.out(r, dtype::int64);
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref x = g.in(0);
    const gather_attrs last{x.rank() - 1};
    if (g.dy(0)) g.to(0, emit_as<take_along_axis_gradient>(x.shape(), x.type(), last, g.y(1), g.dy(0)));
  }
};

template <class Self, fixed_string Name>
struct arg_reduction : op<Self, Name> {
  struct attrs {
    std::int64_t axis;
  };
  static constexpr trait traits = trait::zero_gradient;
  static constexpr void infer(inference& f) {
    extents r;
    for (int i = 0; i < f.in(0).rank; ++i)
      if (i != f.template attrs<attrs>().axis) r.push(f.in(0)[i]);
    f.out(r, dtype::int64);
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(0)); }
};

// Positions along an axis, int64; of equals the first; NaN counts as the greatest and as the least.
struct argmax : arg_reduction<argmax, "argmax"> {};
struct argmin : arg_reduction<argmin, "argmin"> {};

// y[i] = x[0] + ... + x[i] along an axis; exclusive: without x[i]; reverse: from the other end.
struct cumsum : op<cumsum, "cumsum"> {
  struct attrs {
    std::int64_t axis;
    std::int64_t exclusive;
    std::int64_t reverse;
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    f.out(f.in(0), f.type(0));
  }
  // x[i] reaches every sum from y[i] on: the same sums, from the other end.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    g.to(0, emit<cumsum>({a.axis, a.exclusive, !a.reverse}, g.dy()));
  }
};

}  // namespace flowgraph::ops
