// Values that follow from positions.
#pragma once
#include <algorithm>

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
    for (std::int64_t i = 0; i < n; ++i) y[i] = detail::element_from<T>(a.start + static_cast<double>(i) * a.step);
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
    const T on = detail::element_from<T>(a.on);
    T* y = k.out[0].as<T>();
    std::fill_n(y, k.out[0].size(), detail::element_from<T>(a.off));
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
