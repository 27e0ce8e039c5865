// From wide numbers to 16 bits in one rounding. On the way through float a second rounding would see a tie where there
// is none; a float whose last bit says that something was cut off tells the difference.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace flowgraph::detail {

// x if a float holds it; otherwise, of the two floats around it, the one with an odd last bit.
inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) == x || std::isnan(x) || std::isinf(x) || (bits & 1) != 0) return nearest;
  const bool towards_zero = std::abs(static_cast<double>(nearest)) < std::abs(x);
  return std::bit_cast<float>(towards_zero ? bits + 1 : bits - 1);
}

// Integers beyond 2^53 keep one bit for all that a double can't hold.
template <class T>
double sticky_double(T x) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    constexpr T low = 0x7FF;
    if (x > (T{1} << 53) || x < -(T{1} << 53)) x = (x & ~low) | ((x & low) != 0 ? T{0x400} : T{0});
  }
  return static_cast<double>(x);
}

}  // namespace flowgraph::detail
