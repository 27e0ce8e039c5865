// Repeating and reversing along axes.
#pragma once
#include <flowgraph/ops/tile.hpp>
#include "strided_copy.hpp"

namespace flowgraph {

template <>
struct cpu_kernel<ops::tile> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &x = k.in[0], &y = k.out[0];
    const auto a = k.attrs<ops::tile::attrs>();
    const detail::row_major from(x), to(y);
    detail::strided_copy copy;
    for (int i = 0; i < x.rank; ++i) {
      copy.axis(a.count[i], x.dim(i) * to[i], 0);
      copy.axis(x.dim(i), to[i], from[i]);
    }
    copy.run<sizeof(T)>(k, y, 0, x, 0);
  }
};

template <>
struct cpu_kernel<ops::reverse> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &x = k.in[0], &y = k.out[0];
    const std::int64_t axes = k.attrs<ops::reverse::attrs>().axes;
    const detail::row_major stride(x);
    detail::strided_copy copy;
    std::int64_t first = 0;
    for (int i = 0; i < x.rank; ++i) {
      const bool backwards = ((axes >> i) & 1) != 0;
      if (backwards) first += (x.dim(i) - 1) * stride[i];
      copy.axis(x.dim(i), stride[i], backwards ? -stride[i] : stride[i]);
    }
    copy.run<sizeof(T)>(k, y, 0, x, first);
  }
};

using tile_kernels = type_list<ops::tile, ops::reverse>;

}  // namespace flowgraph
