// Rows of a table, read and added to.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/embedding.hpp>
#include "gather.hpp"
#include "scratch.hpp"

namespace flowgraph {

namespace detail {

// The row that the i-th index names; throws where it lies outside the table.
inline std::int64_t row_at(const array_view& indices, std::int64_t i, std::int64_t rows) {
  const std::int64_t row =
      indices.type == dtype::int32 ? indices.as<const std::int32_t>()[i] : indices.as<const std::int64_t>()[i];
  if (row < 0 || row >= rows)
    throw execution_error(problem::index_out_of_range, "index " + std::to_string(row) + " at " + std::to_string(i) +
                                                           " must lie between 0 and " + std::to_string(rows - 1));
  return row;
}

// The same where -1 stands for none.
inline std::int64_t row_or_none(const array_view& indices, std::int64_t i, std::int64_t rows) {
  const std::int64_t row =
      indices.type == dtype::int32 ? indices.as<const std::int32_t>()[i] : indices.as<const std::int64_t>()[i];
  return row == -1 ? row : row_at(indices, i, rows);
}

inline std::int64_t row_size(const array_view& table) {
  std::int64_t n = 1;
  for (int i = 1; i < table.rank; ++i) n *= table.dim(i);
  return n;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::embedding_lookup> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = detail::row_size(k.in[0]);
    const T* table = k.in[0].as<const T>();
    T* y = k.out[0].as<T>();
    parallel_for(k, k.in[1].size(), part_size(n), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        std::copy_n(table + detail::row_at(k.in[1], i, k.in[0].dim(0)) * n, n, y + i * n);
    });
  }
};

template <>
struct cpu_kernel<ops::indexed_slices> {
  using types = floating_types;
  static constexpr int type_operand = 1;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t rows = k.out[0].dim(0);
    detail::add_at_rows(
        k, k.out[0].as<T>(), rows, detail::row_size(k.out[0]), k.in[0].size(),
        [&](std::int64_t i) {
          return k.n_words == 0 ? detail::row_at(k.in[0], i, rows) : detail::row_or_none(k.in[0], i, rows);
        },
        k.in[1].as<const T>());
  }
};

template <>
struct cpu_kernel<ops::lookup_some> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = detail::row_size(k.in[0]);
    const T* const table = k.in[0].as<const T>();
    T* const y = k.out[0].as<T>();
    parallel_for(k, k.in[1].size(), part_size(n), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        if (const std::int64_t row = detail::row_or_none(k.in[1], i, k.in[0].dim(0)); row >= 0)
          std::copy_n(table + row * n, n, y + i * n);
        else
          std::fill_n(y + i * n, n, T{});
    });
  }
};

// An open hash table from an index to the place where it first stood.
template <>
struct cpu_kernel<ops::sum_duplicates> {
  using types = floating_types;
  static constexpr int type_operand = 1;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t count = k.in[0].size(), n = count == 0 ? 0 : k.in[1].size() / count;
    const T* rows = k.in[1].as<const T>();
    T* sums = k.out[0].as<T>();
    std::uint64_t slots = 16;
    while (slots < 2 * static_cast<std::uint64_t>(count)) slots *= 2;
    std::int64_t* const index = detail::scratch<std::int64_t>(2 * static_cast<std::int64_t>(slots));
    std::int64_t* const first = index + slots;
    std::fill_n(first, slots, std::int64_t{-1});
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = detail::row_or_none(k.in[0], i, std::numeric_limits<std::int64_t>::max());
      if (row < 0) {
        std::fill_n(sums + i * n, n, T(0));
        continue;
      }
      std::uint64_t at = (static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
      while (first[at] >= 0 && index[at] != row) at = (at + 1) & (slots - 1);
      const T* const from = rows + i * n;
      if (first[at] < 0) {
        index[at] = row;
        first[at] = i;
        std::copy_n(from, n, sums + i * n);
      } else {
        std::fill_n(sums + i * n, n, T(0));
        detail::add_run(sums + first[at] * n, from, n);
      }
    }
  }
};

using embedding_kernels = type_list<ops::embedding_lookup, ops::lookup_some, ops::indexed_slices, ops::sum_duplicates>;

}  // namespace flowgraph
