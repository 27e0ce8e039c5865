// Values that follow from positions: evenly spaced numbers, rows that mark a class, the extents themselves.
#pragma once
#include <cstdint>

#include "embedding.hpp"
#include "sources.hpp"

namespace flowgraph::ops {

// start, start + step, ...: as many as the declared shape, a vector, has room for.
struct range : op<range, "range"> {
  struct attrs {
    std::int64_t start;  // words, as a constant's
    std::int64_t step;
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.declared().rank == 1, problem::operand_rank);
    f.require(f.declared_type() != dtype::boolean, problem::dtype_unsupported);
    f.out(f.declared(), f.declared_type());
  }
};

constexpr range::attrs count_up(dtype type) { return {0, number_word(type, 1)}; }

// indices -> on at [..., indices[...]], off elsewhere along the last axis of the declared shape; an index outside
// that axis gives a row of off.
struct one_hot : op<one_hot, "one_hot"> {
  struct attrs {
    std::int64_t on;  // words, as a constant's
    std::int64_t off;
  };
  static constexpr trait traits = trait::zero_gradient;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_indices(f, 0);
    extents rows = f.declared();
    if (rows.rank > 0) --rows.rank;
    f.require(rows == f.in(0), problem::scatter_shape);
    f.out(f.declared(), f.declared_type());
  }
};

// The extents of the operand, whose elements are not read: int64.
struct shape : op<shape, "shape"> {
  static constexpr trait traits = trait::zero_gradient;
  static constexpr void infer(inference& f) { f.out({1, {f.in(0).rank}}, dtype::int64); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
