// The matrix product: on register tiles, on lanes where there are none for the processor or the type. Large products
// are cut into blocks of the result, small ones of a batch are put together, so that each part is worth a thread.
// Integers have loops of their own.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/matmul.hpp>
#include "lane_product.hpp"
#include "product_shape.hpp"
#include "row_product.hpp"
#include "strided.hpp"
#include "tiled_product.hpp"

namespace flowgraph {

namespace detail {

// How a result is cut: rows and columns of a block. Both operands are packed again for each block they take part in,
// so there are few blocks, and they are as square as they come.
struct product_blocks {
  std::int64_t rows, columns;

  // Tiles read the left operand as it lies where they can: then its rows are better left together.
  product_blocks(const product_shape& s, bool tiles) : rows(s.m), columns(s.n) {
    constexpr std::int64_t unit = 32;
    const std::int64_t work = s.m * s.n * s.k, most = std::min(work >> 22, 8 + (work >> (tiles ? 30 : 28)));
    for (std::int64_t parts = 2; parts <= most && std::max(rows, columns) >= 2 * unit; parts *= 2) {
      std::int64_t& longer = rows > (tiles ? 2 : 1) * columns ? rows : columns;
      longer = ((longer + 1) / 2 + unit - 1) / unit * unit;
    }
  }
};

// Is it float's product, which is on tiles where they help?
template <class T>
inline constexpr bool has_tiles_for = std::is_same_v<T, float> && FLOWGRAPH_REGISTER_TILES;

// Where tiles help: with a few columns for their lanes, and work enough to be put in order first.
template <class T>
bool on_tiles(const product_shape& s) {
  return has_tiles_for<T> && s.n >= 8 && s.m * s.n * s.k >= 1 << 13;
}

template <class T>
void multiply(const T* a, const T* b, T* y, const product_shape& s, const product_part& p) {
  if constexpr (has_tiles_for<T>) {
    on_tiles<T>(s) ? tiled_product(a, b, y, s, p) : row_product(a, b, y, s, p);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (s.n < 8 || s.m * s.n * s.k < 1 << 12) return row_product(a, b, y, s, p);
    const matrix_view<const T> left{a, s.transpose_a ? 1 : s.k, s.transpose_a ? s.m : 1};
    const matrix_view<const T> right{b, s.transpose_b ? 1 : s.n, s.transpose_b ? s.k : 1};
    multiply_matrices<T>(p.rows, p.columns, s.k, left.from(p.i, 0), right.from(0, p.j), y + p.i * s.n + p.j, s.n,
                         product_into::set);
  } else {
    const std::int64_t a_row = s.transpose_a ? 1 : s.k, a_column = s.transpose_a ? s.m : 1;
    const std::int64_t b_row = s.transpose_b ? 1 : s.n, b_column = s.transpose_b ? s.k : 1;
    for (std::int64_t i = p.i; i < p.i + p.rows; ++i) {
      T* row = y + i * s.n;
      for (std::int64_t j = p.j; j < p.j + p.columns; ++j) row[j] = 0;
      for (std::int64_t l = 0; l < s.k; ++l) {
        const auto x = static_cast<std::uint64_t>(a[i * a_row + l * a_column]);  // wraps around
        for (std::int64_t j = p.j; j < p.j + p.columns; ++j)
          row[j] = static_cast<T>(static_cast<std::uint64_t>(row[j]) +
                                  x * static_cast<std::uint64_t>(b[l * b_row + j * b_column]));
      }
    }
  }
}

// The leading axes of y with the steps of an operand, 0 where it is repeated. Matrices count as one element.
inline strided_axes batch_axes(const array_view& operand, const array_view& y) {
  strided_axes axes;
  std::int64_t strides[max_rank], stride = 1;
  for (int i = 2; i < y.rank; ++i) {
    const std::int64_t extent = i < operand.rank ? operand.last(i) : 1;
    strides[i] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  for (int i = y.rank; i-- > 2;) axes.push(y.last(i), strides[i]);
  return axes;
}

inline std::int64_t batch_size(const array_view& x) {
  std::int64_t n = 1;
  for (int i = 2; i < x.rank; ++i) n *= x.last(i);
  return n;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::matmul> {
  using types = number_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &a = k.in[0], &b = k.in[1], &y = k.out[0];
    const auto [ta, tb] = k.attrs<ops::matmul::attrs>();
    detail::product_shape s{y.last(1), y.last(0), a.last(ta ? 1 : 0), ta != 0, tb != 0};
    std::int64_t batch = detail::batch_size(y);
    if (s.m * s.n * batch == 0) return;
    if (!s.transpose_a && detail::batch_size(b) == 1) {  // one right operand for all rows: one product
      s.m *= batch;
      batch = 1;
    }
    const detail::product_blocks block(s, detail::on_tiles<T>(s));
    const std::int64_t down = (s.m + block.rows - 1) / block.rows, across = (s.n + block.columns - 1) / block.columns;
    const T *left = a.as<const T>(), *right = b.as<const T>();
    T* const result = y.as<T>();
    if (batch * down * across == 1) {
      detail::multiply(left, right, result, s, {0, 0, s.m, s.n});
      return k.finish(0, s.m * s.n);
    }
    const detail::strided_axes a_batch = detail::batch_axes(a, y), b_batch = detail::batch_axes(b, y);
    const std::int64_t work = block.rows * block.columns * std::max<std::int64_t>(s.k, 1);
    parallel_for(k, batch * down * across, part_size(work), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t part = first; part < last; ++part) {
        const std::int64_t which = part / (down * across), at = part % (down * across);
        const std::int64_t i = at / across * block.rows, j = at % across * block.columns;
        const detail::product_part p{i, j, std::min(block.rows, s.m - i), std::min(block.columns, s.n - j)};
        detail::multiply(left + (batch == 1 ? 0 : a_batch.offset(which)) * s.m * s.k,
                         right + (batch == 1 ? 0 : b_batch.offset(which)) * s.k * s.n, result + which * s.m * s.n, s,
                         p);
        k.finish(which * s.m + i, j, p.rows, p.columns, s.n);
      }
    });
  }
};

using matmul_kernels = type_list<ops::matmul>;

}  // namespace flowgraph
