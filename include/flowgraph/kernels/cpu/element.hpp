// Single elements of any type: filled in, added, subtracted. half and bfloat16 go through float; integers wrap around.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/kernels/parallel.hpp>

namespace flowgraph::detail {

template <class T>
void fill(const kernel_args& k, T* out, std::int64_t count, T value) {
  parallel_for(k, count, part_work,
               [=](std::int64_t first, std::int64_t last) { std::fill(out + first, out + last, value); });
}

template <class T>
constexpr T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(a + b);
}

template <class T>
constexpr T minus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(a - b);
}

}  // namespace flowgraph::detail
