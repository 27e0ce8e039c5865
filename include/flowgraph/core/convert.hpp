// Numbers of one element type as another's, and as a graph's words have them; and from a type that a value names to the
// C++ type. Apart from dtype.hpp, which every model reads: models don't compute.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dtype.hpp"
#include "round_to_odd.hpp"

namespace flowgraph::detail {

// Floating-point to integer truncates and stops at the ends of the range; NaN becomes 0. To bool: x != 0.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<bool>(x != From{});
  } else if constexpr (is_floating(dtype_of<From>) && std::is_integral_v<To>) {
    const auto wide = static_cast<std::conditional_t<std::is_same_v<From, double>, double, float>>(x);
    using limits = std::numeric_limits<To>;
    if (!(wide == wide)) return 0;
    // 2^bits is exact in floating point, the greatest integer may not be.
    if (wide >= static_cast<decltype(wide)>(limits::max() / 2 + 1) * 2) return limits::max();
    if (wide <= static_cast<decltype(wide)>(limits::min())) return limits::min();
    return static_cast<To>(wide);
  } else if constexpr (std::is_same_v<To, half> || std::is_same_v<To, bfloat16>) {
    if constexpr (sizeof(From) > 2)
      return To(round_to_odd(sticky_double(x)));
    else
      return To(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

// An element from a word of the graph: the bits of a double for floating-point types, the integer for the others.
template <class T>
T from_word(std::int64_t word) {
  if constexpr (is_floating(dtype_of<T>))
    return convert<T>(std::bit_cast<double>(word));
  else
    return convert<T>(word);
}

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

}  // namespace flowgraph::detail
