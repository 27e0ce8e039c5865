// A tensor repeated into a larger shape. Reshape itself needs no kernel: it is a view.
#pragma once
#include <flowgraph/ops/reshape.hpp>
#include "strided_copy.hpp"

namespace flowgraph {

template <>
struct cpu_kernel<ops::broadcast_to> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &x = k.in[0], &y = k.out[0];
    const detail::row_major from(x), to(y);
    const int missing = y.rank - x.rank;
    detail::strided_copy copy;
    for (int i = 0; i < y.rank; ++i) {
      const bool repeats = i < missing || x.dim(i - missing) == 1;
      copy.axis(y.dim(i), to[i], repeats ? 0 : from[i - missing]);
    }
    copy.run<sizeof(T)>(k, y, 0, x, 0);
  }
};

using reshape_kernels = type_list<ops::broadcast_to>;

}  // namespace flowgraph
