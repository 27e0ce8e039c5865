// Constants as memory, for readers that need every element, and numbers of any type from what a plan holds.
#pragma once
#include <cstdint>

#include <flowgraph/kernels/copy.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/sources.hpp>
#include "element.hpp"
#include "number_tile.hpp"

namespace flowgraph {

namespace detail {

// f(T{}) for the type that a value names.
template <class F>
void with_type(dtype type, const F& f) {
  switch (type) {
    case dtype::boolean:
      return f(bool{});
    case dtype::int8:
      return f(std::int8_t{});
    case dtype::uint8:
      return f(std::uint8_t{});
    case dtype::int32:
      return f(std::int32_t{});
    case dtype::int64:
      return f(std::int64_t{});
    case dtype::float16:
      return f(half{});
    case dtype::bfloat16:
      return f(bfloat16{});
    case dtype::float32:
      return f(float{});
    case dtype::float64:
      return f(double{});
    case dtype::none:
      return;
  }
}

}  // namespace detail

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
