// The number of elements along some axes.
#pragma once
#include <cstdint>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/size.hpp>

namespace flowgraph {

template <>
struct cpu_kernel<ops::size> {
  using types = number_types;
  static constexpr bool in_float = true;
  static constexpr int type_operand = -1;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t axes = k.attrs<ops::size::attrs>().axes;
    std::int64_t n = 1;
    for (int i = 0; i < k.in[0].rank; ++i)
      if ((axes >> i) & 1) n *= k.in[0].dim(i);
    *k.out[0].as<T>() = static_cast<T>(n);
  }
};

using size_kernels = type_list<ops::size>;

}  // namespace flowgraph
