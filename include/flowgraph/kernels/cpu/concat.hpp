// Joining and taking apart along an axis.
#pragma once
#include <flowgraph/ops/concat.hpp>
#include "strided_copy.hpp"

namespace flowgraph {

template <>
struct cpu_kernel<ops::concat> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t axis = k.attrs<ops::concat::attrs>().axis;
    const detail::around_axis whole(k.out[0], axis);
    std::int64_t at = 0;
    for (int i = 0; i < k.n_in; ++i) {
      const std::int64_t row = k.in[i].dim(static_cast<int>(axis)) * whole.inner;
      detail::strided_copy copy;
      copy.axis(whole.outer, whole.extent * whole.inner, row);
      copy.axis(row, 1, 1);
      copy.run<sizeof(T)>(k, k.out[0], at, k.in[i], 0);
      at += row;
    }
  }
};

template <>
struct cpu_kernel<ops::split> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t axis = k.attrs<ops::split::attrs>().axis;
    const detail::around_axis whole(k.in[0], axis);
    std::int64_t at = 0;
    for (int i = 0; i < k.n_out; ++i) {
      const std::int64_t row = k.out[i].dim(static_cast<int>(axis)) * whole.inner;
      detail::strided_copy copy;
      copy.axis(whole.outer, row, whole.extent * whole.inner);
      copy.axis(row, 1, 1);
      copy.run<sizeof(T)>(k, k.out[i], 0, k.in[0], at);
      at += row;
    }
  }
};

using concat_kernels = type_list<ops::concat, ops::split>;

}  // namespace flowgraph
