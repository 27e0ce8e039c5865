// A product whose right operand is the same in call after call: weights that the turns of a loop multiply a few rows
// with. They are packed for the tiles when they have changed and not every time, which would take as long as the
// product itself.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/kernels/provider.hpp>
#include "matmul.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_packed_product final : public prepared_kernel {
 public:
  // Null: the operand changes with every call, or packing it doesn't matter.
  static std::unique_ptr<prepared_kernel> make(const op_def& op, const kernel_args& k) {
    if (op.id != ops::matmul::id || k.in[1].version == nullptr || k.out[0].type != dtype::float32) return nullptr;
    const array_view &a = k.in[0], &b = k.in[1], &y = k.out[0];
    const auto [ta, tb] = k.attrs<ops::matmul::attrs>();
    if (ta != 0 || batch_size(b) != 1 || !has_register_tiles()) return nullptr;
    const product_shape s{y.last(1) * batch_size(y), y.last(0), a.last(0), false, tb != 0};
    const std::int64_t elements = s.n * s.k;
    if (s.m < least_rows || s.m > most_rows || s.n < tile_columns || elements < least || elements > most)
      return nullptr;
    return std::unique_ptr<prepared_kernel>(new basic_packed_product(s));
  }

  void run(const kernel_args& k) override {
    const auto [m, n, depth, ta, tb] = shape_;
    const float *const a = k.in[0].as<const float>(), *const b = k.in[1].as<const float>();
    if (from_ != b || version_ != *k.in[1].version) pack(k, b);
    const std::int64_t across = (panels_ + grain_ - 1) / grain_;
    parallel_for(k, (m + rows_ - 1) / rows_ * across, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t i = p / across * rows_, j = p % across * grain_ * tile_columns;
        const std::int64_t rows = std::min(rows_, m - i), columns = std::min(grain_ * tile_columns, n - j);
        multiply_panels({.rows = rows,
                         .columns = columns,
                         .depth = depth,
                         .a = a + i * depth,
                         .row = depth,
                         .b = packed_[0].at + j * depth,
                         .y = k.out[0].as<float>() + i * n + j,
                         .y_row = n});
        k.finish(i, j, rows, columns, n);
      }
    });
  }

  bool finishes() const override { return true; }

 private:
  // Fewer rows are done before tiles have begun; for more, packing is a small part of the work. A copy of much larger
  // weights would not be worth its memory.
  static constexpr std::int64_t least_rows = 4, most_rows = 128, least = 1 << 12, most = 1 << 22;

  // Rows are halved first: whoever computes one half need not fetch the other from the cache of who made it.
  explicit basic_packed_product(const product_shape& s)
      : shape_(s),
        panels_((s.n + tile_columns - 1) / tile_columns),
        rows_(s.m < 16 ? s.m : (s.m + 1) / 2),
        grain_(round_up(std::max<std::int64_t>(part / (rows_ * s.k * tile_columns), 1), 2)),
        packed_(new panel_line[static_cast<std::size_t>(panels_ * s.k)]) {}

  void pack(const kernel_args& k, const float* b) {
    const auto [m, n, depth, ta, tb] = shape_;
    parallel_for(k, panels_, part_size(depth * tile_columns), [&](std::int64_t first, std::int64_t last) {
      const std::int64_t j = first * tile_columns, columns = std::min(last * tile_columns, n) - j;
      pack_columns(b + (tb ? j * depth : j), tb ? depth : n, tb, depth, columns, packed_[0].at + j * depth,
                   depth * tile_columns);
    });
    from_ = b;
    version_ = *k.in[1].version;
  }

  static constexpr std::int64_t part = 1 << 19;  // multiplications worth a part of their own

  product_shape shape_;
  std::int64_t panels_, rows_, grain_;  // rows and panels of a part; panels as many as wide tiles take
  std::unique_ptr<panel_line[]> packed_;
  const float* from_ = nullptr;  // what was packed
  std::uint64_t version_ = 0;
};
using packed_product = basic_packed_product<>;

}  // namespace flowgraph::detail
