// Tiles of every size beside plain loops, the narrow ones also where a processor would take the wide ones. Numbers are
// small integers, so that sums are exact in any order.
#include <flowgraph/kernels/cpu/register_tiles.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph::detail;

std::vector<float> numbers(std::int64_t n, unsigned seed) {
  return flowgraph::testing::whole_numbers<float>({n}, seed).values;
}

// How many elements of c, or of what lies around it, are not what they should be.
int wrong(void (*compute)(std::int64_t, const tile_task&), std::int64_t rows, std::int64_t columns, std::int64_t taps,
          std::int64_t depth, std::int64_t step, bool add) {
  const std::int64_t tap_step = 7 * step * depth, row = tap_step * taps + 5, c_row = columns + 3;
  const std::int64_t panel = taps * depth * tile_columns + 11;
  const auto a = numbers(wide_rows * row + tap_step, 1), b = numbers(2 * panel, 2), before = numbers(rows * c_row, 3);
  auto c = before;
  const even_rows at(row);
  compute(rows, {.taps = taps,
                 .depth = depth,
                 .a = a.data(),
                 .rows = at.at,
                 .tap_step = tap_step,
                 .step = step,
                 .b = b.data(),
                 .panel = panel,
                 .c = c.data(),
                 .c_row = c_row,
                 .columns = columns,
                 .add = add});
  int count = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < c_row; ++j) {
      const auto here = static_cast<std::size_t>(i * c_row + j);
      float expected = j < columns && !add ? 0 : before[here];
      if (j < columns)
        for (std::int64_t t = 0; t < taps; ++t)
          for (std::int64_t p = 0; p < depth; ++p)
            expected += a[static_cast<std::size_t>(tap_step * t + i * row + step * p)] *
                        b[static_cast<std::size_t>(j / tile_columns * panel + (t * depth + p) * tile_columns +
                                                   j % tile_columns)];
      count += c[here] != expected;
    }
  return count;
}

void check_all(void (*compute)(std::int64_t, const tile_task&), std::int64_t most_rows, std::int64_t most_columns) {
  for (std::int64_t rows = 1; rows <= most_rows; ++rows)
    for (std::int64_t columns = 1; columns <= most_columns; ++columns)
      for (const bool add : {false, true}) {
        CAPTURE(rows);
        CAPTURE(columns);
        CHECK(wrong(compute, rows, columns, 3, 5, 1, add) == 0);
        CHECK(wrong(compute, rows, columns, 1, 33, 4, add) == 0);
        CHECK(wrong(compute, rows, columns, 0, 5, 1, add) == 0);  // nothing to add up
      }
}

}  // namespace

TEST_CASE("tiles of all sizes") {
  if (FLOWGRAPH_REGISTER_TILES && !has_register_tiles()) return;  // nobody calls them on such a processor
  check_all(&compute_narrow_tile, narrow_rows, tile_columns);
  if (has_wide_tiles()) check_all(&compute_wide_tile, wide_rows, 2 * tile_columns);
  check_all(&compute_tile, tile_rows(), tile_width());
}

TEST_CASE("tiles cover all rows once, as even as they come") {
  for (std::int64_t n = 0; n < 40; ++n) {
    std::int64_t next = 0, least = n, most = 0;
    for_each_tile(n, [&](std::int64_t first, std::int64_t count) {
      CHECK(first == next);
      next += count;
      least = std::min(least, count);
      most = std::max(most, count);
    });
    CHECK(next == n);
    CHECK(most <= tile_rows());
    CHECK(most - least <= 1);
  }
}
