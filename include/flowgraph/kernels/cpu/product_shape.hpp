// What a product of matrices is, whoever computes it.
#pragma once
#include <cstdint>

namespace flowgraph::detail {

// One product of matrices as they lie in memory: op(a) is m x k, op(b) is k x n, y is m x n.
struct product_shape {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

// Rows [i, i + rows) and columns [j, j + columns) of the result.
struct product_part {
  std::int64_t i, j, rows, columns;
};

}  // namespace flowgraph::detail
