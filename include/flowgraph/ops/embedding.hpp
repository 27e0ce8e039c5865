// Rows of a table by their numbers, with a gradient that stays sparse: of a table of a million rows a step touches a
// few hundred.
#pragma once
#include "comparison.hpp"
#include "concat.hpp"
#include "sources.hpp"

namespace flowgraph::ops {

// The shape of indices followed by the rest of a row.
FLOWGRAPH_CONSTEXPR extents rows_shape(inference& f, const extents& table, const extents& indices) {
  f.require(table.rank >= 1, problem::operand_rank);
  f.require(indices.rank + table.rank - 1 <= max_rank, problem::rank_too_high);
  if (f.failed()) return table;
  extents r = indices;
  for (int i = 1; i < table.rank; ++i) r.push(table[i]);
  return r;
}

constexpr void require_indices(inference& f, int operand) {
  f.require(f.type(operand) == dtype::int32 || f.type(operand) == dtype::int64, problem::needs_integer);
}

// (table, indices) -> y[..., :] = table[indices[...], :]
struct embedding_lookup : op<embedding_lookup, "embedding_lookup"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 1);
    f.out(rows_shape(f, f.in(0), f.in(1)), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (indices, rows) -> zeros of the declared shape with each row added at its index. A gradient in sparse form:
// optimizers read its two operands and update only those rows of their variable; for any other reader its value is
// the dense table.
struct indexed_slices : op<indexed_slices, "indexed_slices"> {
  struct attrs {
    std::int64_t some;  // 1: an index of -1 names no row. A node without attributes has no such index
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    f.require(f.in(1) == rows_shape(f, f.declared(), f.in(0)), problem::scatter_shape);
    f.out(f.declared(), f.type(1));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(1)); }
};

constexpr void embedding_lookup::gradient(gradient_step& g) {
  const ref table = g.in(0);
  if (g.wants(0)) g.to(0, emit_as<indexed_slices>(table.shape(), table.type(), g.in(1), g.dy()));
}

// (indices, rows) -> rows: where an index occurs several times, its first row becomes their sum and the others 0, as do
// those of -1. What an optimizer needs whose update is not linear in the gradient.
struct sum_duplicates : op<sum_duplicates, "sum_duplicates"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    const extents &indices = f.in(0), &rows = f.in(1);
    f.require(rows.rank >= indices.rank, problem::scatter_shape);
    for (int i = 0; i < indices.rank && i < rows.rank; ++i) f.require(rows[i] == indices[i], problem::scatter_shape);
    f.out(rows, f.type(1));
  }
};

constexpr bool names_all(ref slices) { return slices.get().n_attrs == 0; }

// (table, indices) -> y[..., :] = table[indices[...], :], and zeros where an index is -1. Of such an index no row of
// the table has a gradient: an optimizer does not move it.
struct lookup_some : op<lookup_some, "lookup_some"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 1);
    f.out(rows_shape(f, f.in(0), f.in(1)), f.type(0));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref table = g.in(0);
    if (g.wants(0))
      g.to(0, emit_as<indexed_slices>(table.shape(), table.type(), indexed_slices::attrs{1}, g.in(1), g.dy()));
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr void indexed_slices::gradient(gradient_step& g) {
  if (!g.wants(1)) return;
  g.to(1, names_all(g.y()) ? emit<embedding_lookup>(g.dy(), g.in(0)) : emit<lookup_some>(g.dy(), g.in(0)));
}

// Other indices or rows as a gradient in sparse form.
FLOWGRAPH_CONSTEXPR ref slices_like(ref slices, ref indices, ref rows) {
  if (names_all(slices)) return emit_as<indexed_slices>(slices.shape(), slices.type(), indices, rows);
  return emit_as<indexed_slices>(slices.shape(), slices.type(), indexed_slices::attrs{1}, indices, rows);
}
// What of a sparse gradient can be added to a table: indices of rows that there are, and rows of zeros for those of
// none.
FLOWGRAPH_CONSTEXPR ref indices_of(ref slices) {
  const ref indices = slices.input(0);
  if (names_all(slices)) return indices;
  const ref zero = scalar_like(indices, 0);
  return emit<select>(emit<less>(indices, zero), zero, indices);
}
FLOWGRAPH_CONSTEXPR ref rows_of(ref slices) {
  if (names_all(slices)) return slices.input(1);
  return emit<sum_duplicates>(slices.input(0), slices.input(1));
}

// [n, ...] instead of several leading axes: the first `leading` ones become one.
FLOWGRAPH_CONSTEXPR ref flatten_leading(ref x, int leading) {
  if (leading == 1) return x;
  const extents from = x.shape();
  extents front, to;
  for (int i = 0; i < leading; ++i) front.push(from[i]);
  to.push(x.graph->symbols.product(front));
  for (int i = leading; i < from.rank; ++i) to.push(from[i]);
  return emit_as<reshape>(to, x.type(), x);
}

// a and b one behind the other. What is itself joined so is extended, so that many lookups of one table are copied
// once, not once for each.
FLOWGRAPH_CONSTEXPR ref append_rows(ref a, ref b) {
  int in[inference::max_outputs] = {a.id};
  int n = 1;
  if (a.is(op_def_of<concat>) && a.attrs<concat::attrs>().axis == 0 && a.get().n_inputs < inference::max_outputs) {
    n = a.get().n_inputs;
    for (int i = 0; i < n; ++i) in[i] = a.input(i).id;
  }
  in[n++] = b.id;
  const std::int64_t axis = 0;
  return {a.graph, detail::append_inferred(*a.graph, op_def_of<concat>, in, n, &axis, 1)};
}

// The sum of two indexed_slices of one table, as indexed_slices: rows of equal index are added when they are used.
FLOWGRAPH_CONSTEXPR ref join_slices(ref a, ref b) {
  const auto wide = [](ref indices) {
    if (indices.type() == dtype::int64) return indices;
    return emit_as<cast>(indices.shape(), dtype::int64, indices);
  };
  const int of_a = a.input(0).rank(), of_b = b.input(0).rank();
  const ref indices = append_rows(flatten_leading(wide(a.input(0)), of_a), flatten_leading(wide(b.input(0)), of_b));
  const ref rows = append_rows(flatten_leading(a.input(1), of_a), flatten_leading(b.input(1), of_b));
  return slices_like(names_all(a) ? b : a, indices, rows);
}

}  // namespace flowgraph::ops
