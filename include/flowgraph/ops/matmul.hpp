// The matrix product, batched over leading axes, either operand transposed in place.
#pragma once
#include <cstdint>

#include "arithmetic.hpp"
#include "transpose.hpp"

namespace flowgraph::ops {

// [..., m, n] -> [... * m, n]
FLOWGRAPH_CONSTEXPR ref as_matrix(ref x) {
  const extents from = x.shape();
  extents rows = from, to;
  --rows.rank;
  to.push(x.graph->symbols.product(rows));
  to.push(from.last(0));
  return emit_as<reshape>(to, x.type(), x);
}

// y[..., m, n] = a[..., m, k] b[..., k, n]; with transpose_a, a is [..., k, m]; with transpose_b, b is [..., n, k].
struct matmul : op<matmul, "matmul"> {
  static constexpr trait traits = trait::finishes;
  struct attrs {
    std::int64_t transpose_a;
    std::int64_t transpose_b;
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const extents &a = f.in(0), &b = f.in(1);
    const attrs t = f.attrs<attrs>();
    f.require(f.type(0) == f.type(1), problem::dtypes_differ);
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    f.require(a.rank >= 2 && b.rank >= 2, problem::operand_rank);
    if (a.rank < 2 || b.rank < 2) return f.out(a, f.type(0));
    const extent m = a.last(t.transpose_a ? 0 : 1), ka = a.last(t.transpose_a ? 1 : 0);
    const extent kb = b.last(t.transpose_b ? 0 : 1), n = b.last(t.transpose_b ? 1 : 0);
    f.require(ka == kb, problem::inner_dimensions);
    extents r;
    r.rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 2; i < r.rank; ++i) {
      const extent x = i < a.rank ? a.last(i) : 1, y = i < b.rank ? b.last(i) : 1;
      f.require(x == y || x == 1 || y == 1, problem::batch_dimensions);
      r[r.rank - 1 - i] = x == 1 ? y : x;
    }
    r[r.rank - 2] = m;
    r[r.rank - 1] = n;
    f.out(r, f.type(0));
  }
  // y = a b: da = dy bT, db = aT dy; with a transposed: da = b dyT, and so on.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref a = g.in(0), b = g.in(1), dy = g.dy();
    const auto [ta, tb] = g.attrs<attrs>();
    const bool plain = a.rank() == 2 && b.rank() == 2;  // no batch to sum over: the gradient has the operand's shape
    if (g.wants(0)) {
      const ref left = ta ? b : dy, right = ta ? dy : b;
      const attrs t = ta ? attrs{tb, 1} : attrs{0, !tb};
      g.to(0, plain ? emit_like<matmul>(a, t, left, right) : sum_to(emit<matmul>(t, left, right), a));
    }
    if (!g.wants(1)) return;
    if (!plain && !ta && b.rank() == 2) {
      // One matrix for the whole batch: its gradient is one product over all rows, not a sum of products.
      const ref rows = as_matrix(a), dy_rows = as_matrix(dy);  // [... * m, k], [... * m, n]
      g.to(1, emit_like<matmul>(b, attrs{1, 0}, tb ? dy_rows : rows, tb ? rows : dy_rows));
      return;
    }
    const ref left = tb ? dy : a, right = tb ? a : dy;
    const attrs t = tb ? attrs{1, ta} : attrs{!ta, 0};
    g.to(1, plain ? emit_like<matmul>(b, t, left, right) : sum_to(emit<matmul>(t, left, right), b));
  }
  // A transposed operand is read as it lies.
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    const ref a = operand_of_last_two_swap(r.in(0)), b = operand_of_last_two_swap(r.in(1));
    if (!a && !b) return rewriter::keep;
    const auto [ta, tb] = r.self.attrs<attrs>();
    return emit<matmul>(attrs{a ? !ta : ta, b ? !tb : tb}, a ? a : r.in(0), b ? b : r.in(1)).id;
  }
  static FLOWGRAPH_CONSTEXPR std::int64_t flops(const cost_query& q) {
    std::int64_t n = 2 * q.in(0).last(q.attrs<attrs>().transpose_a ? 1 : 0);
    for (int i = 0; i < q.out().rank; ++i) n *= q.out()[i];
    return n;
  }
};

}  // namespace flowgraph::ops
