// Matrix products by oneDNN's sgemm, which takes matrices of any stride, so that parts of a product are products too.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include <flowgraph/kernels/cpu/matmul.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/kernels/provider.hpp>
#include "library.hpp"

namespace flowgraph::detail::onednn {

// How sgemm works depends on the sizes it is called with. For large products it copies both operands into panels first.
// Otherwise it reads them as they lie, which without AVX-512 halves the speed where rows of b are some KiB apart (they
// compete for the same places of the first-level cache); there a panel of b is copied here, once for all rows of a.
// With AVX-512 it reads whole lines of b, and parts of a few hundred columns are as quick as the whole.
class matmul final : public prepared_kernel {
 public:
  explicit matmul(const kernel_args& k) {
    const array_view &a = k.in[0], &b = k.in[1], &y = k.out[0];
    const auto [ta, tb] = k.attrs<ops::matmul::attrs>();
    shape_ = {y.last(1), y.last(0), a.last(ta ? 1 : 0), ta != 0, tb != 0};
    batch_ = batch_size(y);
    if (!shape_.transpose_a && batch_size(b) == 1) {  // one right operand for all rows: one product
      shape_.m *= batch_;
      batch_ = 1;
    }
    const auto [m, n, depth, transpose_a, transpose_b] = shape_;
    rows_ = m;
    columns_ = n;
    if (2 * m * n * depth < smallest_part) return;
    if (has_wide_registers()) {
      rows_ = even_part(m, m * n >= 2 * large ? 1024 : 2 * m * n >= large ? 512 : transpose_a ? 256 : 64);
      columns_ = even_part(n, 512);
      // A small result with long sums: parts for a few threads at least.
      const auto few = [&] { return (m + rows_ - 1) / rows_ * ((n + columns_ - 1) / columns_) < 4; };
      while (few() && rows_ * columns_ * depth >= smallest_part && std::max(rows_, columns_) >= 2 * panel_columns)
        halve_longer();
    } else if (copied_by_sgemm(m, n) && (transpose_a || m * n >= large)) {
      // Every part copies what it reads: where there is much to do, parts are large.
      const double most = m * n >= large ? 0.002 : copying;
      while (rows_ >= columns_ ? copied_by_sgemm(half(rows_), columns_, most)
                               : copied_by_sgemm(rows_, half(columns_), most))
        halve_longer();
    } else if (n >= 2 * panel_columns) {
      columns_ = panel_columns;
      packed_ = !transpose_b && n >= widest_row;
    } else {
      rows_ = std::max(std::int64_t{16}, (smallest_part / (2 * n * depth) + 15) / 16 * 16);
    }
  }

  std::int64_t flops() const { return 2 * batch_ * shape_.m * shape_.n * shape_.k; }
  // A left operand that is transposed and read as it lies: the library's own tiles copy it first, in half the time.
  // With AVX-512 that holds for the right operand, but for a few rows; and small products are done before sgemm begins.
  bool slower_than_tiles() const {
    const auto [m, n, depth, transpose_a, transpose_b] = shape_;
    if (!on_tiles<float>(shape_)) return false;
    if (has_wide_registers()) return (transpose_b && m >= 16) || 2 * m * n * depth < 1 << 21;
    return transpose_a && !copied_by_sgemm(m, n);
  }

  void run(const kernel_args& k) override {
    const array_view &a = k.in[0], &b = k.in[1], &y = k.out[0];
    const strided_axes a_batch = batch_axes(a, y), b_batch = batch_axes(b, y);
    const std::int64_t row_parts = (shape_.m + rows_ - 1) / rows_;
    const std::int64_t column_parts = (shape_.n + columns_ - 1) / columns_;
    const std::int64_t parts = row_parts * column_parts;
    const std::int64_t grain = std::max<std::int64_t>(1, smallest_part / (2 * rows_ * columns_ * shape_.k));
    parallel_for(k, batch_ * parts, grain, [&](std::int64_t first, std::int64_t last) {
      const on_this_thread alone;
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t matrix = i / parts, part = i % parts;
        const std::int64_t row = part / column_parts * rows_, column = part % column_parts * columns_;
        multiply(a.as<const float>() + a_batch.offset(matrix) * shape_.m * shape_.k,
                 b.as<const float>() + b_batch.offset(matrix) * shape_.k * shape_.n,
                 y.as<float>() + matrix * shape_.m * shape_.n, row, column);
        if (finishes())
          k.finish(matrix * shape_.m + row, column, std::min(rows_, shape_.m - row),
                   std::min(columns_, shape_.n - column), shape_.n);
      }
    });
  }

  // Panels would be too short for a region.
  bool finishes() const override { return columns_ > panel_columns || columns_ >= shape_.n; }

 private:
  static constexpr std::int64_t smallest_part = 1 << 22;
  static constexpr std::int64_t panel_columns = 64, panel_rows = 512, widest_row = 512, large = 1 << 21;

  // As much of n as each part gets where none gets more than `most`, but for whole registers.
  static constexpr std::int64_t even_part(std::int64_t n, std::int64_t most) {
    const std::int64_t parts = (n + most - 1) / most;
    return round_up((n + parts - 1) / parts, tile_columns);
  }
  static constexpr std::int64_t half(std::int64_t n) { return round_up(n / 2, tile_columns); }
  void halve_longer() {
    std::int64_t& longer = rows_ >= columns_ ? rows_ : columns_;
    longer = half(longer);
  }
  // What it costs to copy both operands, relative to the product; sgemm's own rule.
  static constexpr double copying = 0.0038;
  static constexpr bool copied_by_sgemm(std::int64_t m, std::int64_t n, double most = copying) {
    return 1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) < most;
  }

  // The part of the product that begins at (row, column).
  void multiply(const float* a, const float* b, float* y, std::int64_t row, std::int64_t column) const {
    const auto [m, n, depth, transpose_a, transpose_b] = shape_;
    const std::int64_t rows = std::min(rows_, m - row), columns = std::min(columns_, n - column);
    a += transpose_a ? row : row * depth;
    b += transpose_b ? column * depth : column;
    y += row * n + column;
    const std::int64_t a_stride = transpose_a ? m : depth, b_stride = transpose_b ? depth : n;
    if (!packed_) return sgemm(rows, columns, depth, a, a_stride, b, b_stride, 0, y);
    float* panel = reinterpret_cast<float*>(scratch<cache_line>(lines(panel_rows * columns * 4)));
    for (std::int64_t at = 0; at < depth; at += panel_rows) {
      const std::int64_t count = std::min(panel_rows, depth - at);
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(panel + i * columns, b + (at + i) * b_stride, static_cast<std::size_t>(columns) * sizeof(float));
      sgemm(rows, columns, count, a + (transpose_a ? at * a_stride : at), a_stride, panel, columns, at == 0 ? 0 : 1, y);
    }
  }
  void sgemm(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* a, std::int64_t a_stride,
             const float* b, std::int64_t b_stride, float keep, float* y) const {
    check(dnnl_sgemm(shape_.transpose_a ? 'T' : 'N', shape_.transpose_b ? 'T' : 'N', rows, columns, depth, 1, a,
                     a_stride, b, b_stride, keep, y, shape_.n),
          "dnnl_sgemm");
  }

  product_shape shape_{};
  std::int64_t batch_ = 1;
  std::int64_t rows_ = 1, columns_ = 1;  // of a part
  bool packed_ = false;                  // the panel of b that a part reads is copied
};

}  // namespace flowgraph::detail::onednn
