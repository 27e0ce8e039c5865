// Rows of a tensor that change, in place where nobody else reads it: how a loop fills an array turn by turn.
#pragma once
#include "embedding.hpp"

namespace flowgraph::ops {

FLOWGRAPH_CONSTEXPR void infer_rows(inference& f) {
  require_indices(f, 1);
  f.require(f.type(0) == f.type(2), problem::dtypes_differ);
  f.require(f.in(2) == rows_shape(f, f.in(0), f.in(1)), problem::scatter_shape);
  f.out(f.in(0), f.type(0));
}

// (x, indices, rows) -> x with these rows in place of its own; of several for one index the last one stays.
struct set_rows : op<set_rows, "set_rows"> {
  static constexpr trait traits = trait::in_place;
  static constexpr void infer(inference& f) { infer_rows(f); }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    // Rows are read before they become 0: then that can happen in place.
    if (g.wants(2)) g.to(2, emit<embedding_lookup>(g.dy(), g.in(1)));
    if (g.wants(0)) g.to(0, emit<set_rows>(g.dy(), g.in(1), full_like(g.in(2), 0)));
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (x, indices, rows) -> x with these rows added to its own
struct add_rows : op<add_rows, "add_rows"> {
  static constexpr trait traits = trait::in_place;
  static constexpr void infer(inference& f) { infer_rows(f); }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    g.to(0, g.dy());
    if (g.wants(2)) g.to(2, emit<embedding_lookup>(g.dy(), g.in(1)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(2)); }
};

// Memory of the declared shape, for a loop that writes every row of it before anybody reads one. Numbered: two that
// look alike are not the same.
struct unset : op<unset, "unset"> {
  struct attrs {
    std::int64_t number;
  };
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
