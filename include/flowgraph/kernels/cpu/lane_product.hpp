// Products of matrices of any strides on lanes: blocks of the right operand are put in order for tiles of a few rows
// and as many columns as two registers have lanes. For double, and for float where register_tiles.hpp has no tiles of
// its own for the processor.
#pragma once
#include <algorithm>
#include <cstdint>

#include "lanes.hpp"
#include "scratch.hpp"
#include "write_out.hpp"

namespace flowgraph::detail {

// Element (i, j) is at[row i + step j].
template <class T>
struct matrix_view {
  T* at;
  std::int64_t row, step = 1;

  matrix_view from(std::int64_t i, std::int64_t j) const { return {at + i * row + j * step, row, step}; }
  matrix_view turned() const { return {at, step, row}; }
};

enum class product_into { set, add, subtract };

template <class T>
inline constexpr int product_rows = FLOWGRAPH_LANE_BYTES == 64   ? 8
                                    : FLOWGRAPH_LANE_BYTES == 32 ? 6
                                                                 : 4;
template <class T>
inline constexpr int product_columns = 2 * lane_count<T>;

// y [Rows, columns] from rows of a, a_row apart, with their elements together, and a panel [depth, product_columns].
template <class T, int Rows>
void multiply_tile(const T* a, std::int64_t a_row, const T* panel, std::int64_t depth, T* y, std::int64_t y_row,
                   std::int64_t columns, product_into into) {
  constexpr int width = lane_count<T>;
  lanes<T> sum[Rows][2];
  FLOWGRAPH_WRITE_OUT
  for (int r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = lanes<T>(T(0));
  for (std::int64_t p = 0; p < depth; ++p, panel += 2 * width) {
    const lanes<T> low = lanes<T>::load(panel), high = lanes<T>::load(panel + width);
    FLOWGRAPH_WRITE_OUT
    for (int r = 0; r < Rows; ++r) {
      const lanes<T> left(a[r * a_row + p]);
      sum[r][0] = multiply_add(left, low, sum[r][0]);
      sum[r][1] = multiply_add(left, high, sum[r][1]);
    }
  }
  FLOWGRAPH_WRITE_OUT
  for (int r = 0; r < Rows; ++r) {
    T all[2 * width], *const to = y + r * y_row;
    sum[r][0].store(all);
    sum[r][1].store(all + width);
    const std::int64_t n = std::min<std::int64_t>(columns, 2 * width);
    if (into == product_into::set)
      for (std::int64_t j = 0; j < n; ++j) to[j] = all[j];
    else if (into == product_into::add)
      for (std::int64_t j = 0; j < n; ++j) to[j] += all[j];
    else
      for (std::int64_t j = 0; j < n; ++j) to[j] -= all[j];
  }
}

template <class T>
struct panel_elements;  // uses of scratch memory
template <class T>
struct row_elements;
template <class T>
struct turned_result;

// y = a b, or what that adds to y or takes away: a [rows, depth], b [depth, columns], y [rows, columns] with the
// elements of its rows together.
template <class T>
void multiply_matrices(std::int64_t rows, std::int64_t columns, std::int64_t depth, const matrix_view<const T>& a,
                       const matrix_view<const T>& b, T* y, std::int64_t y_row, product_into into) {
  constexpr std::int64_t most_rows = 96, most_columns = 512, most_depth = 256, few = product_rows<T>;
  constexpr std::int64_t width = product_columns<T>;
  if (columns < 8 && rows >= 32) {  // which the lanes are too many for: the result is computed turned around
    constexpr std::int64_t together = most_columns;
    T* const turned = scratch<T, turned_result<T>>(columns * std::min(rows, together));
    for (std::int64_t i = 0; i < rows; i += together) {
      const std::int64_t count = std::min(together, rows - i);
      multiply_matrices<T>(columns, count, depth, b.turned(), a.from(i, 0).turned(), turned, count, product_into::set);
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          T &to = y[(i + r) * y_row + c], x = turned[c * count + r];
          to = into == product_into::set ? x : into == product_into::add ? to + x : to - x;
        }
    }
    return;
  }
  if (depth == 0 && into == product_into::set)
    for (std::int64_t i = 0; i < rows; ++i) std::fill_n(y + i * y_row, columns, T(0));
  const std::int64_t longest = std::min(depth, most_depth);
  for (std::int64_t j = 0; j < columns; j += most_columns) {
    const std::int64_t across = std::min(most_columns, columns - j);
    T* const panels = scratch<T, panel_elements<T>>((across + width - 1) / width * width * longest);
    for (std::int64_t at = 0; at < depth; at += most_depth) {
      const std::int64_t down = std::min(most_depth, depth - at);
      for (std::int64_t c = 0; c < across; c += width) {
        T* to = panels + c * down;
        const matrix_view<const T> from = b.from(at, j + c);
        const std::int64_t n = std::min(width, across - c);
        for (std::int64_t p = 0; p < down; ++p, to += width)
          for (std::int64_t k = 0; k < width; ++k) to[k] = k < n ? from.at[p * from.row + k * from.step] : T(0);
      }
      const product_into how = at > 0 && into == product_into::set ? product_into::add : into;
      for (std::int64_t i = 0; i < rows; i += most_rows) {
        const std::int64_t count = std::min(most_rows, rows - i);
        matrix_view<const T> left = a.from(i, at);
        if (left.step != 1) {  // so that the elements of a row lie together
          T* const block = scratch<T, row_elements<T>>(most_rows * longest);
          for (std::int64_t p = 0; p < down; ++p)
            for (std::int64_t r = 0; r < count; ++r) block[r * down + p] = left.at[r * left.row + p * left.step];
          left = {block, down, 1};
        }
        for (std::int64_t c = 0; c < across; c += width) {
          const T* const panel = panels + c * down;
          T* const to = y + i * y_row + j + c;
          std::int64_t r = 0;
          for (; r + few <= count; r += few)
            multiply_tile<T, static_cast<int>(few)>(left.at + r * left.row, left.row, panel, down, to + r * y_row,
                                                    y_row, across - c, how);
          for (; r + 2 <= count; r += 2)
            multiply_tile<T, 2>(left.at + r * left.row, left.row, panel, down, to + r * y_row, y_row, across - c, how);
          for (; r < count; ++r)
            multiply_tile<T, 1>(left.at + r * left.row, left.row, panel, down, to + r * y_row, y_row, across - c, how);
        }
      }
    }
  }
}

}  // namespace flowgraph::detail
