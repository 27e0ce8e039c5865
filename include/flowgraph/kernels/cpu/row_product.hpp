// Products of matrices that are too small or too narrow to be put in order for register tiles: operands are read
// as they lie.
#pragma once
#include <algorithm>
#include <cstdint>

#include "lanes.hpp"
#include "product_shape.hpp"
#include "scratch.hpp"
#include "write_out.hpp"

namespace flowgraph::detail {

// y [rows, columns] = a [rows, depth] b [depth, columns]: element (i, p) of a is a[a_row i + a_step p], a row of b lies
// together, and element (i, j) of y is y[y_row i + y_step j].
template <class T>
struct strided_product {
  std::int64_t rows, columns, depth;
  const T* a;
  std::int64_t a_row, a_step;
  const T* b;
  std::int64_t b_row;
  T* y;
  std::int64_t y_row, y_step;
};

// Rows [i, i + Rows) and from column j on as many as `Registers` have lanes, or only `count` of one. Every sum is taken
// in the order of its terms, whatever is computed beside it.
template <int Rows, int Registers, bool Whole = true, class T>
void multiply_lanes(const strided_product<T>& x, std::int64_t i, std::int64_t j, int count = lane_count<T>) {
  constexpr int width = lane_count<T>;
  lanes<T> sum[Rows][Registers];
  FLOWGRAPH_WRITE_OUT
  for (int r = 0; r < Rows; ++r) FLOWGRAPH_WRITE_OUT
  for (int c = 0; c < Registers; ++c) sum[r][c] = lanes<T>(T(0));
  const T *a = x.a + i * x.a_row, *b = x.b + j;
  for (std::int64_t p = 0; p < x.depth; ++p, a += x.a_step, b += x.b_row) {
    lanes<T> right[Registers];
    FLOWGRAPH_WRITE_OUT
    for (int c = 0; c < Registers; ++c) right[c] = Whole ? lanes<T>::load(b + c * width) : lanes<T>::load(b, count);
    FLOWGRAPH_WRITE_OUT
    for (int r = 0; r < Rows; ++r) {
      const lanes<T> left(a[r * x.a_row]);
      FLOWGRAPH_WRITE_OUT
      for (int c = 0; c < Registers; ++c) sum[r][c] = multiply_add(left, right[c], sum[r][c]);
    }
  }
  FLOWGRAPH_WRITE_OUT
  for (int r = 0; r < Rows; ++r) FLOWGRAPH_WRITE_OUT
  for (int c = 0; c < Registers; ++c) {
    T* const to = x.y + (i + r) * x.y_row + (j + c * width) * x.y_step;
    if (x.y_step == 1 && Whole) {
      sum[r][c].store(to);
    } else {
      T all[width];
      sum[r][c].store(all);
      for (int k = 0; k < count; ++k) to[k * x.y_step] = all[k];
    }
  }
}

// The last columns are computed together with some before them, where there are enough.
template <int Rows, int Registers, class T>
void multiply_rows(const strided_product<T>& x, std::int64_t i) {
  constexpr std::int64_t width = lane_count<T>;
  std::int64_t j = 0;
  for (; j + Registers * width <= x.columns; j += Registers * width) multiply_lanes<Rows, Registers>(x, i, j);
  for (; j + width <= x.columns; j += width) multiply_lanes<Rows, 1>(x, i, j);
  if (j == x.columns) return;
  if (x.columns >= width)
    multiply_lanes<Rows, 1>(x, i, x.columns - width);
  else
    multiply_lanes<Rows, 1, false>(x, i, 0, static_cast<int>(x.columns));
}

template <class T>
void multiply_in_lanes(const strided_product<T>& x) {
  constexpr int alone = std::clamp(64 / lane_count<T>, 1, 8);  // sums enough to wait for none
  std::int64_t i = 0;
  for (; i + 4 <= x.rows; i += 4) multiply_rows<4, 2>(x, i);
  for (; i < x.rows; ++i) multiply_rows<1, alone>(x, i);
}

template <class T>
T dot_product(const T* a, const T* b, std::int64_t n) {
  constexpr std::int64_t width = lane_count<T>;
  constexpr int registers = 4;
  lanes<T> sum[registers];
  FLOWGRAPH_WRITE_OUT
  for (int r = 0; r < registers; ++r) sum[r] = lanes<T>(T(0));
  std::int64_t i = 0;
  for (; i + registers * width <= n; i += registers * width) {
    FLOWGRAPH_WRITE_OUT
    for (int r = 0; r < registers; ++r)
      sum[r] = multiply_add(lanes<T>::load(a + i + r * width), lanes<T>::load(b + i + r * width), sum[r]);
  }
  for (; i + width <= n; i += width) sum[0] = multiply_add(lanes<T>::load(a + i), lanes<T>::load(b + i), sum[0]);
  T rest = 0;
  for (; i < n; ++i) rest += a[i] * b[i];
  return sum_of((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

struct turned_operand;  // a use of scratch memory

// Rows [i, i + rows) and columns [j, j + columns) of y = op(a) op(b).
template <class T>
void row_product(const T* a, const T* b, T* y, const product_shape& s, const product_part& part) {
  constexpr std::int64_t few = 8;
  const std::int64_t a_row = s.transpose_a ? 1 : s.k, a_step = s.transpose_a ? s.m : 1;
  const std::int64_t b_step = s.transpose_b ? 1 : s.n, b_column = s.transpose_b ? s.k : 1;
  y += part.i * s.n + part.j;
  if (s.k == 0) {  // operands without elements may have no address
    for (std::int64_t i = 0; i < part.rows; ++i) std::fill_n(y + i * s.n, part.columns, T(0));
    return;
  }
  a += part.i * a_row;
  b += part.j * b_column;
  if (s.transpose_a && s.n < few)  // rows of a fill the lanes that those of b don't: the result turned around
    return multiply_in_lanes<T>({part.columns, part.rows, s.k, b, b_column, b_step, a, a_step, y, 1, s.n});
  // Adding up the lanes of a sum takes as long as some tens of its terms.
  const bool dots = !s.transpose_a && s.k >= 16 && (s.n < few || (s.transpose_b && (s.k >= 64 || s.m < 4)));
  const bool turn = dots ? !s.transpose_b && s.n > 1 : s.transpose_b && s.n > 1;
  if (turn) {  // so that what is read for one sum, or for one term of all, lies together
    T* const to = scratch<T, turned_operand>(s.k * part.columns);
    const std::int64_t to_step = dots ? 1 : part.columns, to_column = dots ? s.k : 1;
    for (std::int64_t p = 0; p < s.k; ++p)
      for (std::int64_t j = 0; j < part.columns; ++j) to[p * to_step + j * to_column] = b[p * b_step + j * b_column];
    b = to;
  }
  if (!dots)
    return multiply_in_lanes<T>(
        {part.rows, part.columns, s.k, a, a_row, a_step, b, turn ? part.columns : b_step, y, s.n, 1});
  for (std::int64_t i = 0; i < part.rows; ++i)
    for (std::int64_t j = 0; j < part.columns; ++j) y[i * s.n + j] = dot_product(a + i * s.k, b + j * s.k, s.k);
}

}  // namespace flowgraph::detail
