// The vocabulary that scalar functions (ops/scalar_functions.hpp) are written against, for single numbers; lanes.hpp
// has it for several at once. half and bfloat16 are computed in float; integers wrap around, as the processor's do.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/core/error.hpp>

namespace flowgraph::detail {

// An integer whose overflow is defined: modulo 2^bits.
template <std::integral T>
struct wrapped {
  using bits = std::make_unsigned_t<T>;
  T value;

  friend constexpr wrapped operator-(wrapped a) { return from(static_cast<bits>(0u - static_cast<bits>(a.value))); }
  friend constexpr wrapped operator+(wrapped a, wrapped b) {
    return from(static_cast<bits>(static_cast<bits>(a.value) + static_cast<bits>(b.value)));
  }
  friend constexpr wrapped operator-(wrapped a, wrapped b) {
    return from(static_cast<bits>(static_cast<bits>(a.value) - static_cast<bits>(b.value)));
  }
  friend constexpr wrapped operator*(wrapped a, wrapped b) {
    return from(static_cast<bits>(static_cast<bits>(a.value) * static_cast<bits>(b.value)));
  }
  friend constexpr bool operator==(wrapped, wrapped) = default;
  friend constexpr bool operator<(wrapped a, wrapped b) { return a.value < b.value; }

 private:
  static constexpr wrapped from(bits b) { return {static_cast<T>(b)}; }
};

// What an element is computed as.
template <class T>
struct computed {
  using type = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
template <>
struct computed<half> {
  using type = float;
  static float load(half x) { return x; }
  static half store(float x) { return half(x); }
};
template <>
struct computed<bfloat16> {
  using type = float;
  static float load(bfloat16 x) { return x; }
  static bfloat16 store(float x) { return bfloat16(x); }
};
template <class T>
  requires(std::integral<T> && !std::same_as<T, bool>)
struct computed<T> {
  using type = wrapped<T>;
  static wrapped<T> load(T x) { return {x}; }
  static T store(wrapped<T> x) { return x.value; }
};

// As in Python: the quotient rounds towards minus infinity, the remainder has the divisor's sign.
template <std::floating_point T>
T floor_mod(T x, T y) {
  const T r = std::fmod(x, y);
  if (r == 0) return std::copysign(r, y);
  return (r < 0) != (y < 0) ? r + y : r;
}
template <std::floating_point T>
T floor_div(T x, T y) {
  if (y == 0 || !std::isfinite(x) || !std::isfinite(y)) return std::floor(x / y);
  // x - mod is a multiple of y up to rounding: the nearest integer is exact where the quotient is.
  return std::round((x - floor_mod(x, y)) / y);
}
[[noreturn]] inline void divided_by_zero() {
  throw execution_error(problem::division_by_zero, sentence(problem::division_by_zero));
}
template <std::integral T>
wrapped<T> floor_div(wrapped<T> x, wrapped<T> y) {
  if (y.value == 0) divided_by_zero();
  if constexpr (std::is_signed_v<T>) {
    if (y.value == -1) return -x;  // the least number has no positive partner: the division would trap
    const T q = static_cast<T>(x.value / y.value), r = static_cast<T>(x.value % y.value);
    return {static_cast<T>(r != 0 && (r < 0) != (y.value < 0) ? q - 1 : q)};
  } else {
    return {static_cast<T>(x.value / y.value)};
  }
}
template <std::integral T>
wrapped<T> floor_mod(wrapped<T> x, wrapped<T> y) {
  return x - floor_div(x, y) * y;
}

struct scalar_math {
  template <class X>
  static X like(X, double v) {
    if constexpr (std::is_arithmetic_v<X>)
      return static_cast<X>(v);
    else
      return {static_cast<decltype(X::value)>(v)};
  }
  template <class X>
  static X abs(X x) {
    return x < like(x, 0) ? -x : x == like(x, 0) ? like(x, 0) : x;
  }
  // NaN stays NaN.
  template <class X>
  static X sign(X x) {
    return x < like(x, 0) ? like(x, -1) : like(x, 0) < x ? like(x, 1) : x;
  }
  template <class X>
  static X exp(X x) {
    return std::exp(x);
  }
  template <class X>
  static X log(X x) {
    return std::log(x);
  }
  template <class X>
  static X log1p(X x) {
    return std::log1p(x);
  }
  template <class X>
  static X expm1(X x) {
    return std::expm1(x);
  }
  template <class X>
  static X sqrt(X x) {
    return std::sqrt(x);
  }
  template <class X>
  static X rsqrt(X x) {
    return 1 / std::sqrt(x);
  }
  template <class X>
  static X reciprocal(X x) {
    return 1 / x;
  }
  template <class X>
  static X sin(X x) {
    return std::sin(x);
  }
  template <class X>
  static X cos(X x) {
    return std::cos(x);
  }
  template <class X>
  static X tan(X x) {
    return std::tan(x);
  }
  template <class X>
  static X tanh(X x) {
    return std::tanh(x);
  }
  template <class X>
  static X sigmoid(X x) {
    return 1 / (1 + std::exp(-x));
  }
  template <class X>
  static X erf(X x) {
    return std::erf(x);
  }
  template <class X>
  static X floor(X x) {
    return std::floor(x);
  }
  template <class X>
  static X ceil(X x) {
    return std::ceil(x);
  }
  // Half to even: the mode that programs run in unless they change it.
  template <class X>
  static X round(X x) {
    return std::nearbyint(x);
  }
  template <class X>
  static X div(X x, X y) {
    return x / y;
  }
  template <class X>
  static X floordiv(X x, X y) {
    return floor_div(x, y);
  }
  template <class X>
  static X mod(X x, X y) {
    return floor_mod(x, y);
  }
  template <class X>
  static X pow(X x, X y) {
    return std::pow(x, y);
  }
  // A NaN in either wins.
  template <class X>
  static X max(X x, X y) {
    return !(x == x) || y < x ? x : y;
  }
  template <class X>
  static X min(X x, X y) {
    return !(x == x) || x < y ? x : y;
  }
  template <class C, class X>
  static X select(C c, X x, X y) {
    return static_cast<bool>(c) ? x : y;
  }
  template <class X>
  static bool isnan(X x) {
    return std::isnan(x);
  }
  template <class X>
  static bool isfinite(X x) {
    return std::isfinite(x);
  }
  template <class X>
  static bool equal(X x, X y) {
    return x == y;
  }
  template <class X>
  static bool not_equal(X x, X y) {
    return !(x == y);
  }
  template <class X>
  static bool less(X x, X y) {
    return x < y;
  }
  template <class X>
  static bool less_equal(X x, X y) {
    return x < y || x == y;
  }
  template <class X>
  static bool logical_not(X x) {
    return !static_cast<bool>(x);
  }
  template <class X>
  static bool logical_and(X x, X y) {
    return static_cast<bool>(x) && static_cast<bool>(y);
  }
  template <class X>
  static bool logical_or(X x, X y) {
    return static_cast<bool>(x) || static_cast<bool>(y);
  }
};

}  // namespace flowgraph::detail
