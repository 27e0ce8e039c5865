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

// Puts a block of a transposed left operand, [depth, rows] with its rows `row` apart, into tiles [depth, rows of the
// tile], one behind the other: what a tile reads for one term of its sums then lies together.
inline void pack_rows(const float* a, std::int64_t row, std::int64_t rows, std::int64_t depth, float* to) {
  constexpr std::int64_t together = 32;  // lines of a, which may be pages apart: read for all tiles while they are near
  constexpr std::int64_t half = wide_rows / 2;
  for (std::int64_t first = 0; first < depth; first += together)
    for_each_tile(rows, [&](std::int64_t r, std::int64_t count) {
      for (std::int64_t p = first; p < std::min(first + together, depth); ++p) {
        const float* const from = a + p * row + r;
        float* const tile = to + r * depth + p * count;
        if (count < half) {
          for (std::int64_t i = 0; i < count; ++i) tile[i] = from[i];
        } else {  // the first four and the last four, which may be partly the same
          std::memcpy(tile, from, half * sizeof(float));
          std::memcpy(tile + count - half, from + count - half, half * sizeof(float));
        }
      }
    });
}

// Elements that far apart compete for the same places of the first-level cache.
constexpr bool collides(std::int64_t row) { return row >= 512 && row % 512 == 0; }

// Panels begin where wide registers can be read at once.
struct alignas(64) panel_line {
  float at[tile_columns];
};
struct copied_rows;  // a use of scratch memory

// y = a b, or added to y: a [rows, depth], element (i, p) is a[row i + p], or in tiles, as pack_rows leaves it; b in
// panels, one behind the other; y [rows, columns], rows y_row apart.
struct panel_product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  std::int64_t row = 0;
  bool in_tiles = false;
  const float* b = nullptr;
  float* y = nullptr;
  std::int64_t y_row = 0;
  bool add = false;
};

inline void multiply_panels(const panel_product& x) {
  const even_rows apart(x.in_tiles ? 1 : x.row);
  tile_task t{.depth = x.depth, .rows = apart.at, .panel = x.depth * tile_columns, .c_row = x.y_row, .add = x.add};
  for (std::int64_t c = 0; c < x.columns; c += tile_width()) {
    t.b = x.b + c * x.depth;
    t.columns = std::min(tile_width(), x.columns - c);
    for_each_tile(x.rows, [&](std::int64_t r, std::int64_t count) {
      t.a = x.a + r * (x.in_tiles ? x.depth : x.row);
      t.step = x.in_tiles ? count : 1;
      t.c = x.y + r * x.y_row + c;
      compute_tile(count, t);
    });
  }
}

// Rows [i, i + rows) and columns [j, j + columns) of y = op(a) op(b); the sums have a term at least.
inline void tiled_product(const float* a, const float* b, float* y, const product_shape& s, const product_part& part) {
  // What a block of columns and a block of rows take of the second-level cache. A tile reads the result once for each
  // slice of the sums, so these are long; wide tiles are done with a slice in half the time.
  constexpr std::int64_t most_columns = 512, apart = 16;
  const std::int64_t most_depth = has_wide_tiles() ? 512 : 320, most_rows = has_wide_tiles() ? 64 : 96;
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
        if (s.transpose_a) {
          pack_rows(block_of_a, a_row, rows, depth, block);
          block_of_a = block;
        } else if (copies) {
          row = depth + apart;
          for (std::int64_t line = 0; line < rows; ++line)
            std::memcpy(block + line * row, block_of_a + line * a_row, static_cast<std::size_t>(depth) * sizeof(float));
          block_of_a = block;
        }
        multiply_panels({.rows = rows,
                         .columns = columns,
                         .depth = depth,
                         .a = block_of_a,
                         .row = row,
                         .in_tiles = s.transpose_a,
                         .b = panels,
                         .y = y + i * s.n + j,
                         .y_row = s.n,
                         .add = at > 0});
      }
    }
}

}  // namespace flowgraph::detail
