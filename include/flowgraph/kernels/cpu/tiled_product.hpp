// The product of two float matrices on register tiles. Blocks of both operands are put where the tiles find them in the
// first two levels of the cache.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "product_shape.hpp"
#include "register_tiles.hpp"
#include "scratch.hpp"

namespace flowgraph::detail {

// Puts a matrix of depth x columns elements into panels of 16 columns each, panel_size elements apart: [depth, 16],
// zeros behind the last column. Element (p, j) is b[row p + j], or turned around b[row j + p].
inline void pack_columns(const float* b, std::int64_t row, bool turned, std::int64_t depth, std::int64_t columns,
                         float* to, std::int64_t panel_size) {
  constexpr std::int64_t together = 4 * tile_columns, small = 8;  // as long a run of a row as pays to read at a time
  const std::int64_t whole = columns / tile_columns * tile_columns;
  if (!turned) {
    for (std::int64_t first = 0; first < whole; first += together)
      for (std::int64_t p = 0; p < depth; ++p)
        for (std::int64_t j = first; j < std::min(first + together, whole); j += tile_columns)
          std::memcpy(to + j / tile_columns * panel_size + p * tile_columns, b + p * row + j,
                      tile_columns * sizeof(float));
  } else {
    for (std::int64_t j = 0; j < whole; j += small) {
      float* const panel = to + j / tile_columns * panel_size + j % tile_columns;
      std::int64_t p = 0;
      for (; p + small <= depth; p += small)
        transpose_8x8(b + j * row + p, row, panel + p * tile_columns, tile_columns);
      for (; p < depth; ++p)
        for (std::int64_t i = 0; i < small; ++i) panel[p * tile_columns + i] = b[(j + i) * row + p];
    }
  }
  if (whole == columns) return;
  float* const panel = to + whole / tile_columns * panel_size;
  for (std::int64_t p = 0; p < depth; ++p)
    for (std::int64_t j = 0; j < tile_columns; ++j)
      panel[p * tile_columns + j] = whole + j >= columns ? 0
                                    : turned             ? b[(whole + j) * row + p]
                                                         : b[p * row + whole + j];
}

// Elements that far apart compete for the same places of the first-level cache.
constexpr bool collides(std::int64_t row) { return row >= 512 && row % 512 == 0; }

// Panels begin where wide registers can be read at once.
struct alignas(64) panel_line {
  float at[tile_columns];
};
struct copied_rows;  // a use of scratch memory

// y = a b, or added to y: a [rows, depth], element (i, p) is a[row i + step p]; b in panels, one behind the other;
// y [rows, columns], rows y_row apart.
struct panel_product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  std::int64_t row = 0, step = 1;
  const float* b = nullptr;
  float* y = nullptr;
  std::int64_t y_row = 0;
  bool add = false;
};

inline void multiply_panels(const panel_product& x) {
  const even_rows apart(x.row);
  tile_task t{.depth = x.depth,
              .rows = apart.at,
              .step = x.step,
              .panel = x.depth * tile_columns,
              .c_row = x.y_row,
              .add = x.add};
  for (std::int64_t c = 0; c < x.columns; c += tile_width()) {
    t.b = x.b + c * x.depth;
    t.columns = std::min(tile_width(), x.columns - c);
    for_each_tile(x.rows, [&](std::int64_t r, std::int64_t count) {
      t.a = x.a + r * x.row;
      t.c = x.y + r * x.y_row + c;
      compute_tile(count, t);
    });
  }
}

// Rows [i, i + rows) and columns [j, j + columns) of y = op(a) op(b); the sums have a term at least.
inline void tiled_product(const float* a, const float* b, float* y, const product_shape& s, const product_part& part) {
  constexpr std::int64_t most_depth = 320, most_rows = 96, most_columns = 512, apart = 16;
  const std::int64_t a_row = s.transpose_a ? s.m : s.k, b_row = s.transpose_b ? s.k : s.n;
  // The sum is cut evenly: a short last piece would cost as much as a long one.
  const std::int64_t slices = (s.k + most_depth - 1) / most_depth;
  const std::int64_t slice = (s.k + slices - 1) / slices;
  const std::int64_t width = round_up(std::min(part.columns, most_columns), tile_columns);
  const bool copies = s.transpose_a || collides(a_row);
  float* const panels = scratch<panel_line>(width / tile_columns * slice)->at;
  float* const block = copies ? scratch<float, copied_rows>(most_rows * (slice + apart)) : nullptr;
  for (std::int64_t column = 0; column < part.columns; column += most_columns)
    for (std::int64_t at = 0; at < s.k; at += slice) {
      const std::int64_t depth = std::min(slice, s.k - at), columns = std::min(most_columns, part.columns - column);
      const std::int64_t j = part.j + column;
      pack_columns(b + (s.transpose_b ? j * b_row + at : at * b_row + j), b_row, s.transpose_b, depth, columns, panels,
                   depth * tile_columns);
      for (std::int64_t from = 0; from < part.rows; from += most_rows) {
        const std::int64_t rows = std::min(most_rows, part.rows - from), i = part.i + from;
        const float* block_of_a = a + (s.transpose_a ? at * a_row + i : i * a_row + at);
        std::int64_t row = a_row;
        if (copies) {
          const std::int64_t lines = s.transpose_a ? depth : rows, length = s.transpose_a ? rows : depth;
          const std::int64_t pitch = s.transpose_a ? most_rows : depth + apart;
          for (std::int64_t line = 0; line < lines; ++line)
            std::memcpy(block + line * pitch, block_of_a + line * a_row,
                        static_cast<std::size_t>(length) * sizeof(float));
          block_of_a = block;
          row = pitch;
        }
        multiply_panels({.rows = rows,
                         .columns = columns,
                         .depth = depth,
                         .a = block_of_a,
                         .row = s.transpose_a ? 1 : row,
                         .step = s.transpose_a ? row : 1,
                         .b = panels,
                         .y = y + i * s.n + j,
                         .y_row = s.n,
                         .add = at > 0});
      }
    }
}

}  // namespace flowgraph::detail
