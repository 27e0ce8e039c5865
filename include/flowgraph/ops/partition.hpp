// Rows that belong together, though how many is known only when a step runs: there is room for all of them, and -1 says
// where there is none. Rows go where they belong, come back to where they were, and are added up.
#pragma once
#include <cstdint>

#include "embedding.hpp"

namespace flowgraph::ops {

// (numbers) -> positions: where this part's number stands, in order, then -1. Numbers outside 0 to parts-1 stop the
// step.
struct part_positions : op<part_positions, "part_positions"> {
  struct attrs {
    std::int64_t part;
    std::int64_t parts;
  };
  static constexpr trait traits = trait::zero_gradient;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const attrs a = f.attrs<attrs>();
    require_indices(f, 0);
    f.require(f.in(0).rank == 1, problem::operand_rank);
    f.require(a.parts >= 1 && a.part >= 0 && a.part < a.parts, problem::parameter_range);
    f.out(f.in(0), dtype::int64);
  }
};

// (positions, rows, positions, rows, ...) -> the declared shape: each row at its position, but those of -1; zeros where
// nothing is. A position that occurs twice stops the step.
struct dynamic_stitch : op<dynamic_stitch, "dynamic_stitch"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    for (int k = 0; k + 1 < f.operands(); k += 2) {
      require_indices(f, k);
      f.require(f.type(k + 1) == f.type(1), problem::dtypes_differ);
      f.require(f.in(k + 1) == rows_shape(f, f.declared(), f.in(k)), problem::row_numbers);
    }
    f.out(f.declared(), f.type(1));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    for (int k = 0; k + 1 < g.operands(); k += 2)
      if (g.wants(k + 1)) g.to(k + 1, emit<lookup_some>(g.dy(), g.in(k)));
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (numbers, x) -> y[s, :] = sum of the rows of x whose number is s, of the declared shape; rows of -1 are in no sum.
struct segment_sum : op<segment_sum, "segment_sum"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    f.require(f.type(1) != dtype::boolean, problem::dtype_unsupported);
    f.require(f.in(1) == rows_shape(f, f.declared(), f.in(0)), problem::row_numbers);
    f.out(f.declared(), f.type(1));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.wants(1)) g.to(1, emit<lookup_some>(g.dy(), g.in(0)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(1)); }
};

}  // namespace flowgraph::ops
