// Values that follow from positions.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/range.hpp>
#include "element.hpp"

namespace flowgraph {

template <>
struct cpu_kernel<ops::range> {
  using types = rounded_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::range::attrs>();
    T* const y = k.out[0].as<T>();
    const std::int64_t n = k.out[0].size();
    if constexpr (is_floating(detail::dtype_of<T>)) {
      const double start = std::bit_cast<double>(a.start), step = std::bit_cast<double>(a.step);
      for (std::int64_t i = 0; i < n; ++i) y[i] = detail::convert<T>(start + static_cast<double>(i) * step);
    } else {
      // Integers wrap around: range<std::int8_t> counts on from -128.
      std::uint64_t at = static_cast<std::uint64_t>(a.start);
      for (std::int64_t i = 0; i < n; ++i, at += static_cast<std::uint64_t>(a.step)) y[i] = static_cast<T>(at);
    }
  }
};

template <>
struct cpu_kernel<ops::one_hot> {
  using types = all_types;
  static constexpr int type_operand = -1;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::one_hot::attrs>();
    const std::int64_t depth = k.out[0].last(0), rows = k.in[0].size();
    const T on = detail::from_word<T>(a.on);
    T* y = k.out[0].as<T>();
    std::fill_n(y, k.out[0].size(), detail::from_word<T>(a.off));
    for (std::int64_t i = 0; i < rows; ++i, y += depth) {
      const std::int64_t p =
          k.in[0].type == dtype::int64 ? k.in[0].as<const std::int64_t>()[i] : k.in[0].as<const std::int32_t>()[i];
      if (p >= 0 && p < depth) y[p] = on;
    }
  }
};

template <>
struct cpu_kernel<ops::shape> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    std::copy_n(k.in[0].dims, k.in[0].rank, k.out[0].as<std::int64_t>());
  }
};

using range_kernels = type_list<ops::range, ops::one_hot, ops::shape>;

}  // namespace flowgraph
