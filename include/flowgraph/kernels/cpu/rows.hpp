// Rows that are set or added to, where they stand.
#pragma once
#include <algorithm>

#include <flowgraph/ops/rows.hpp>
#include "embedding.hpp"

namespace flowgraph {

namespace detail {

// change(to, from, n) for each row of n elements, after the rest was copied, unless it is there already.
template <class T, class Change>
void change_rows(const kernel_args& k, const Change& change) {
  const std::int64_t n = row_size(k.in[0]), rows = k.in[0].dim(0), count = k.in[1].size();
  T* const y = k.out[0].as<T>();
  for (std::int64_t i = 0; i < count; ++i) row_at(k.in[1], i, rows);  // nothing changes if one of them is wrong
  if (k.in[0].data != k.out[0].data) std::copy_n(k.in[0].as<const T>(), k.in[0].size(), y);
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const from = k.in[2].as<const T>() + i * n;
    T* const to = y + row_at(k.in[1], i, rows) * n;
    change(to, from, n);
  }
}

}  // namespace detail

template <>
struct cpu_kernel<ops::set_rows> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::change_rows<T>(k, [](T* to, const T* from, std::int64_t n) {
      if (to != from) std::copy_n(from, n, to);  // it may have been computed there
    });
  }
};

template <>
struct cpu_kernel<ops::add_rows> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    detail::change_rows<T>(k, [](T* to, const T* from, std::int64_t n) {
      for (std::int64_t j = 0; j < n; ++j) to[j] += from[j];
    });
  }
};

template <>
struct cpu_kernel<ops::unset> {
  static void run(const kernel_args&) {}
};

using rows_kernels = type_list<ops::set_rows, ops::add_rows, ops::unset>;

}  // namespace flowgraph
