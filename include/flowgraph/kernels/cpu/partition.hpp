// Rows by the part, place or segment that they belong to, -1 for none.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include <flowgraph/ops/partition.hpp>
#include "embedding.hpp"

namespace flowgraph {

template <>
struct cpu_kernel<ops::part_positions> {
  using types = type_list<std::int32_t, std::int64_t>;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::part_positions::attrs>();
    const std::int64_t n = k.in[0].size();
    std::int64_t* const to = k.out[0].as<std::int64_t>();
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < n; ++i)
      if (detail::row_at(k.in[0], i, a.parts) == a.part) to[found++] = i;
    std::fill(to + found, to + n, std::int64_t{-1});
  }
};

template <>
struct cpu_kernel<ops::dynamic_stitch> {
  using types = all_types;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = detail::row_size(k.out[0]), rows = k.out[0].dim(0);
    T* const y = k.out[0].as<T>();
    bool* const taken = detail::scratch<bool>(rows);
    std::fill_n(taken, rows, false);
    for (int part = 0; part + 1 < k.n_in; part += 2) {
      const T* const from = k.in[part + 1].as<const T>();
      for (std::int64_t i = 0; i < k.in[part].size(); ++i) {
        const std::int64_t row = detail::row_or_none(k.in[part], i, rows);
        if (row < 0) continue;
        if (taken[row])
          throw execution_error(problem::index_out_of_range,
                                "position " + std::to_string(row) + " occurs twice: there is room for one row");
        taken[row] = true;
        std::copy_n(from + i * n, n, y + row * n);
      }
    }
    for (std::int64_t row = 0; row < rows; ++row)
      if (!taken[row]) std::fill_n(y + row * n, n, T{});
  }
};

template <>
struct cpu_kernel<ops::segment_sum> {
  using types = number_types;
  static constexpr int type_operand = 1;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t rows = k.out[0].dim(0);
    detail::add_at_rows(
        k, k.out[0].as<T>(), rows, detail::row_size(k.out[0]), k.in[0].size(),
        [&](std::int64_t i) { return detail::row_or_none(k.in[0], i, rows); }, k.in[1].as<const T>());
  }
};

using partition_kernels = type_list<ops::part_positions, ops::dynamic_stitch, ops::segment_sum>;

}  // namespace flowgraph
