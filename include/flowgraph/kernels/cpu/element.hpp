// Single elements of any type: numbers made of attributes, and sums. half and bfloat16 go through float; integers
// wrap around.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include "number_tile.hpp"

namespace flowgraph::detail {

// As a cast would, but integers wrap around: range<std::int8_t> counts on from -128.
template <class T>
T element_from(double value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return static_cast<T>(convert<std::int64_t>(value));
  else
    return convert<T>(value);
}

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
