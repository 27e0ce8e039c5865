// Single elements of any type: numbers made of attributes, and sums. half and bfloat16 go through float; integers
// wrap around.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include "number_tile.hpp"

namespace flowgraph::detail {

// An element from a word of the graph: the bits of a double for floating-point types, the integer for the others.
template <class T>
T from_word(std::int64_t word) {
  if constexpr (is_floating(dtype_of<T>))
    return convert<T>(std::bit_cast<double>(word));
  else
    return convert<T>(word);
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
