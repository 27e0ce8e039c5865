// Constants as memory, for readers that need every element.
#pragma once
#include <flowgraph/core/convert.hpp>
#include <flowgraph/kernels/copy.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/sources.hpp>
#include "element.hpp"

namespace flowgraph {

template <>
struct cpu_kernel<ops::constant> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const T value = detail::from_word<T>(k.attrs<ops::constant::attrs>().word);
    detail::fill(k, k.out[0].as<T>(), k.out[0].size(), value);
  }
};

// What it waits for is done when it runs.
template <>
struct cpu_kernel<ops::group> {
  static void run(const kernel_args& k) { detail::nothing_kernel(k); }
};

using sources_kernels = type_list<ops::constant, ops::group>;

}  // namespace flowgraph
