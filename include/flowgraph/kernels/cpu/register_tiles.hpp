// Products of float matrices in the processor's registers: 6 x 16 results at a time with AVX2, 8 x 32 with AVX-512,
// every element of the left operand multiplied with a row of the right. Matrix products and convolutions are cut into
// such tiles where the processor has either, whatever it was compiled for: written as products and sums of the
// compilers' own vector types, which become one instruction each where a function's target has it. Matrix products of
// older x86-64 processors have 2 x 16 results in the four-element registers that all of them have.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "write_out.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define FLOWGRAPH_REGISTER_TILES 1
#else
#define FLOWGRAPH_REGISTER_TILES 0
#endif

namespace flowgraph::detail {

// The right operand is packed into panels of 16 columns. A narrow tile has one of them, a wide one two. More rows of a
// wide one would be more addresses than there are registers for.
inline constexpr std::int64_t tile_columns = 16, narrow_rows = 6, wide_rows = 8;

constexpr std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

// What one tile is the product of: the sum over `taps` of a_t [rows, depth] times b_t [depth, columns].
struct tile_task {
  std::int64_t taps = 1, depth = 0;
  const float* a = nullptr;            // element (i, p) of a_t is a[tap_step t + rows[i] + step p]
  const std::int64_t* rows = nullptr;  // where each of the rows begins
  std::int64_t tap_step = 0, step = 1;
  const float* b = nullptr;             // a panel: [taps, depth, 16]
  std::int64_t panel = 0;               // from it to the next one
  float* c = nullptr;                   // [rows, columns], rows c_row apart
  std::int64_t c_row = 0, columns = 0;  // at most tile_width()
  bool add = false;                     // to what c has
};

// Rows that lie a fixed distance apart.
struct even_rows {
  std::int64_t at[wide_rows];
  explicit even_rows(std::int64_t apart) {
    for (int i = 0; i < wide_rows; ++i) at[i] = i * apart;
  }
};

// Two rows at a time, in registers of four elements.
using four_floats [[gnu::vector_size(16)]] = float;

inline void compute_plain_tile(std::int64_t rows, const tile_task& t) {
  constexpr int fours = tile_columns / 4;
  for (std::int64_t i = 0; i < rows; i += 2) {
    const std::int64_t count = std::min<std::int64_t>(2, rows - i);
    four_floats sum[2][fours]{};
    const float* b = t.b;
    for (std::int64_t tap = 0; tap < t.taps; ++tap) {
      const float *one = t.a + tap * t.tap_step + t.rows[i], *two = t.a + tap * t.tap_step + t.rows[i + count - 1];
      for (std::int64_t p = 0; p < t.depth; ++p, b += tile_columns, one += t.step, two += t.step) {
        FLOWGRAPH_WRITE_OUT
        for (int j = 0; j < fours; ++j) {
          four_floats right;
          std::memcpy(&right, b + 4 * j, sizeof right);
          sum[0][j] += *one * right;
          sum[1][j] += *two * right;
        }
      }
    }
    for (std::int64_t r = 0; r < count; ++r) {
      float all[tile_columns], *const to = t.c + (i + r) * t.c_row;
      std::memcpy(all, sum[r], sizeof all);
      for (std::int64_t j = 0; j < t.columns; ++j) to[j] = t.add ? to[j] + all[j] : all[j];
    }
  }
}
inline void transpose_plain_8x8(const float* from, std::int64_t from_row, float* to, std::int64_t to_row) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) to[j * to_row + i] = from[i * from_row + j];
}

#if FLOWGRAPH_REGISTER_TILES

inline bool has_register_tiles() {
  static const bool found = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return found;
}
inline bool has_wide_tiles() {
  static const bool found = has_register_tiles() && __builtin_cpu_supports("avx512f");
  return found;
}

// Places in memory, wherever they lie. References, because a vector itself crosses a call only between functions of one
// target.
using eight_floats [[gnu::vector_size(32)]] = float;
using sixteen_floats [[gnu::vector_size(64)]] = float;
typedef float any_four __attribute__((vector_size(16), aligned(alignof(float)), may_alias));
typedef float any_eight __attribute__((vector_size(32), aligned(alignof(float)), may_alias));
typedef float any_sixteen __attribute__((vector_size(64), aligned(alignof(float)), may_alias));
[[gnu::always_inline]] inline const any_four& four_at(const float* x) { return *reinterpret_cast<const any_four*>(x); }
[[gnu::always_inline]] inline any_eight& eight_at(float* x) { return *reinterpret_cast<any_eight*>(x); }
[[gnu::always_inline]] inline const any_eight& eight_at(const float* x) {
  return *reinterpret_cast<const any_eight*>(x);
}
[[gnu::always_inline]] inline const any_sixteen& sixteen_at(const float* x) {
  return *reinterpret_cast<const any_sixteen*>(x);
}

// Rows are found by their distance from one pointer that moves on: with a pointer for each of them g++ runs out of
// registers where columns are not neighbours.
template <int Rows>
[[gnu::target("avx2,fma")]] void compute_narrow_tile(const tile_task& t) {
  eight_floats sum[Rows][2];
  std::int64_t rows[Rows];
  FLOWGRAPH_WRITE_OUT
  for (int i = 0; i < Rows; ++i) {
    rows[i] = t.rows[i];
    sum[i][0] = sum[i][1] = eight_floats{};
  }
  const float* b = t.b;
  const std::int64_t step = t.step;
  for (std::int64_t tap = 0; tap < t.taps; ++tap) {
    const float* left = t.a + tap * t.tap_step;
    for (const float* const end = b + t.depth * tile_columns; b != end; b += tile_columns, left += step) {
      const eight_floats low = eight_at(b), high = eight_at(b + 8);
      FLOWGRAPH_WRITE_OUT
      for (int i = 0; i < Rows; ++i) {
        sum[i][0] = left[rows[i]] * low + sum[i][0];
        sum[i][1] = left[rows[i]] * high + sum[i][1];
      }
    }
  }
  if (t.columns == tile_columns) {
    FLOWGRAPH_WRITE_OUT
    for (int i = 0; i < Rows; ++i) FLOWGRAPH_WRITE_OUT
    for (int j = 0; j < 2; ++j) {
      float* const to = t.c + i * t.c_row + 8 * j;
      eight_at(to) = t.add ? eight_at(to) + sum[i][j] : sum[i][j];
    }
    return;
  }
  FLOWGRAPH_WRITE_OUT
  for (int i = 0; i < Rows; ++i) {
    float all[tile_columns], *const to = t.c + i * t.c_row;
    eight_at(all) = sum[i][0];
    eight_at(all + 8) = sum[i][1];
    for (std::int64_t j = 0; j < t.columns; ++j) to[j] = t.add ? to[j] + all[j] : all[j];
  }
}

// The result's places are asked for before the sums are: it is mostly in no cache of this core.
template <int Rows, int Panels>
[[gnu::target("avx512f,prfchw")]] void compute_wide_tile(const tile_task& t) {
  sixteen_floats sum[Rows][Panels];
  std::int64_t rows[Rows];
  FLOWGRAPH_WRITE_OUT
  for (int i = 0; i < Rows; ++i) {
    rows[i] = t.rows[i];
    FLOWGRAPH_WRITE_OUT
    for (int j = 0; j < Panels; ++j) {
      __builtin_prefetch(t.c + i * t.c_row + j * tile_columns, 1);
      sum[i][j] = sixteen_floats{};
    }
  }
  const float* b = t.b;
  const std::int64_t panel = t.panel, step = t.step;
  for (std::int64_t tap = 0; tap < t.taps; ++tap) {
    const float* left = t.a + tap * t.tap_step;
    for (const float* const end = b + t.depth * tile_columns; b != end; b += tile_columns, left += step) {
      sixteen_floats right[Panels];
      FLOWGRAPH_WRITE_OUT
      for (int j = 0; j < Panels; ++j) right[j] = sixteen_at(b + j * panel);
      FLOWGRAPH_WRITE_OUT
      for (int i = 0; i < Rows; ++i) {
        FLOWGRAPH_WRITE_OUT
        for (int j = 0; j < Panels; ++j) sum[i][j] = left[rows[i]] * right[j] + sum[i][j];
      }
    }
  }
  FLOWGRAPH_WRITE_OUT
  for (int j = 0; j < Panels; ++j) {
    const std::int64_t columns = std::min(t.columns - j * tile_columns, tile_columns);
    const auto inside = static_cast<std::uint16_t>((1u << columns) - 1);
    FLOWGRAPH_WRITE_OUT
    for (int i = 0; i < Rows; ++i) {
      float* const to = t.c + i * t.c_row + j * tile_columns;
      if (t.add) sum[i][j] += __builtin_ia32_loadups512_mask(to, sixteen_floats{}, inside);
      __builtin_ia32_storeups512_mask(to, sum[i][j], inside);
    }
  }
}

using register_tile = void (*)(const tile_task&);

template <int... Less>
constexpr std::array<register_tile, sizeof...(Less)> narrow_tiles(std::integer_sequence<int, Less...>) {
  return {&compute_narrow_tile<Less + 1>...};
}
template <int Panels, int... Less>
constexpr std::array<register_tile, sizeof...(Less)> wide_tiles(std::integer_sequence<int, Less...>) {
  return {&compute_wide_tile<Less + 1, Panels>...};
}

inline void compute_narrow_tile(std::int64_t rows, const tile_task& t) {
  static constexpr auto by_rows = narrow_tiles(std::make_integer_sequence<int, narrow_rows>());
  by_rows[static_cast<std::size_t>(rows - 1)](t);
}
inline void compute_wide_tile(std::int64_t rows, const tile_task& t) {
  constexpr std::make_integer_sequence<int, wide_rows> less;
  static constexpr auto one = wide_tiles<1>(less), two = wide_tiles<2>(less);
  (t.columns > tile_columns ? two : one)[static_cast<std::size_t>(rows - 1)](t);
}

// to[p, j] = from[j, p] of 8 x 8 elements.
[[gnu::target("avx2")]] inline void transpose_wide_8x8(const float* from, std::int64_t from_row, float* to,
                                                       std::int64_t to_row) {
  eight_floats r[8], s[8];
  FLOWGRAPH_WRITE_OUT
  for (int i = 0; i < 4; ++i) {  // halves of rows i and i + 4 side by side: the rest stays within halves
    const float *low = from + i * from_row, *high = from + (i + 4) * from_row;
    r[i] = __builtin_shufflevector(four_at(low), four_at(high), 0, 1, 2, 3, 4, 5, 6, 7);
    r[i + 4] = __builtin_shufflevector(four_at(low + 4), four_at(high + 4), 0, 1, 2, 3, 4, 5, 6, 7);
  }
  FLOWGRAPH_WRITE_OUT
  for (int i = 0; i < 8; i += 4) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    s[i + 2] = __builtin_shufflevector(r[i + 2], r[i + 3], 0, 8, 1, 9, 4, 12, 5, 13);
    s[i + 3] = __builtin_shufflevector(r[i + 2], r[i + 3], 2, 10, 3, 11, 6, 14, 7, 15);
    eight_at(to + i * to_row) = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    eight_at(to + (i + 1) * to_row) = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    eight_at(to + (i + 2) * to_row) = __builtin_shufflevector(s[i + 1], s[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    eight_at(to + (i + 3) * to_row) = __builtin_shufflevector(s[i + 1], s[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
}

#else

inline bool has_register_tiles() { return false; }
inline bool has_wide_tiles() { return false; }

inline void compute_narrow_tile(std::int64_t rows, const tile_task& t) { compute_plain_tile(rows, t); }
inline void compute_wide_tile(std::int64_t rows, const tile_task& t) { compute_plain_tile(rows, t); }
inline void transpose_wide_8x8(const float* from, std::int64_t from_row, float* to, std::int64_t to_row) {
  transpose_plain_8x8(from, from_row, to, to_row);
}

#endif

inline std::int64_t tile_rows() { return has_wide_tiles() ? wide_rows : narrow_rows; }
inline std::int64_t tile_width() { return has_wide_tiles() ? 2 * tile_columns : tile_columns; }

// rows: 1 to tile_rows().
inline void compute_tile(std::int64_t rows, const tile_task& t) {
  if (has_wide_tiles()) return compute_wide_tile(rows, t);
  has_register_tiles() ? compute_narrow_tile(rows, t) : compute_plain_tile(rows, t);
}
inline void transpose_8x8(const float* from, std::int64_t from_row, float* to, std::int64_t to_row) {
  has_register_tiles() ? transpose_wide_8x8(from, from_row, to, to_row)
                       : transpose_plain_8x8(from, from_row, to, to_row);
}

// f(first, count) for tiles of n rows, as even as they come: one of a row or two would take as long as one of four.
template <class F>
void for_each_tile(std::int64_t n, const F& f) {
  const std::int64_t tiles = (n + tile_rows() - 1) / tile_rows();
  for (std::int64_t i = 0; i < tiles; ++i) f(n * i / tiles, n * (i + 1) / tiles - n * i / tiles);
}

}  // namespace flowgraph::detail
