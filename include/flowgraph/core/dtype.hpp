// Element types: the C++ type, its value form in a node, its printed name. half and bfloat16 are storage with
// conversions; arithmetic on them goes through float.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace flowgraph {

namespace detail {

// IEEE binary32 -> binary16, round to nearest even; NaN stays NaN, overflow becomes infinity.
constexpr std::uint16_t float_to_half_bits(float value) {
  const auto f = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (f >> 16) & 0x8000u;
  const std::uint32_t magnitude = f & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);  // below half of the least subnormal
  std::uint32_t significand = magnitude & 0x7FFFFFu;
  std::uint32_t shift = 13, base = 0;
  if (magnitude < 0x38800000u) {  // subnormal in half: make the leading one explicit
    significand |= 0x800000u;
    shift = 126u - (magnitude >> 23);
  } else {
    base = ((magnitude >> 23) - 112u) << 10;
  }
  std::uint32_t result = base + (significand >> shift);
  const std::uint32_t rest = significand & ((1u << shift) - 1u), tie = 1u << (shift - 1u);
  if (rest > tie || (rest == tie && (result & 1u))) ++result;  // a carry into the exponent is right
  return static_cast<std::uint16_t>(sign | result);
}

constexpr float half_bits_to_float(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16;
  std::uint32_t exponent = (h >> 10) & 0x1Fu, significand = h & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (significand << 13));
  if (exponent == 0) {
    if (significand == 0) return std::bit_cast<float>(sign);
    exponent = 1;
    while (!(significand & 0x400u)) {
      significand <<= 1;
      --exponent;
    }
    significand &= 0x3FFu;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (significand << 13));
}

// Round to nearest even on the dropped 16 bits; NaN stays NaN.
constexpr std::uint16_t float_to_bfloat16_bits(float value) {
  const auto f = std::bit_cast<std::uint32_t>(value);
  if ((f & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((f >> 16) | 0x40u);
  return static_cast<std::uint16_t>((f + 0x7FFFu + ((f >> 16) & 1u)) >> 16);
}

}  // namespace detail

struct half {
  std::uint16_t bits = 0;
  constexpr half() = default;
  constexpr explicit half(float f) : bits(detail::float_to_half_bits(f)) {}
  constexpr operator float() const { return detail::half_bits_to_float(bits); }
};

struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  constexpr explicit bfloat16(float f) : bits(detail::float_to_bfloat16_bits(f)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// none is the type of an operation, which has no value.
enum class dtype : std::uint8_t { none, boolean, int8, uint8, int32, int64, float16, bfloat16, float32, float64 };

namespace detail {

template <class T>
inline constexpr dtype dtype_of = dtype::none;
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of<std::int8_t> = dtype::int8;
template <>
inline constexpr dtype dtype_of<std::uint8_t> = dtype::uint8;
template <>
inline constexpr dtype dtype_of<std::int32_t> = dtype::int32;
template <>
inline constexpr dtype dtype_of<std::int64_t> = dtype::int64;
template <>
inline constexpr dtype dtype_of<half> = dtype::float16;
template <>
inline constexpr dtype dtype_of<bfloat16> = dtype::bfloat16;
template <>
inline constexpr dtype dtype_of<float> = dtype::float32;
template <>
inline constexpr dtype dtype_of<double> = dtype::float64;

template <dtype D>
struct type_of_dtype;
template <>
struct type_of_dtype<dtype::boolean> : std::type_identity<bool> {};
template <>
struct type_of_dtype<dtype::int8> : std::type_identity<std::int8_t> {};
template <>
struct type_of_dtype<dtype::uint8> : std::type_identity<std::uint8_t> {};
template <>
struct type_of_dtype<dtype::int32> : std::type_identity<std::int32_t> {};
template <>
struct type_of_dtype<dtype::int64> : std::type_identity<std::int64_t> {};
template <>
struct type_of_dtype<dtype::float16> : std::type_identity<half> {};
template <>
struct type_of_dtype<dtype::bfloat16> : std::type_identity<bfloat16> {};
template <>
struct type_of_dtype<dtype::float32> : std::type_identity<float> {};
template <>
struct type_of_dtype<dtype::float64> : std::type_identity<double> {};

}  // namespace detail

template <dtype D>
using type_of = typename detail::type_of_dtype<D>::type;

// What a tensor may hold.
template <class T>
concept element = detail::dtype_of<T> != dtype::none;

constexpr bool is_floating(dtype d) { return d >= dtype::float16; }
constexpr bool is_integer(dtype d) { return d >= dtype::int8 && d <= dtype::int64; }

constexpr int size_of(dtype d) {
  constexpr int bytes[] = {0, 1, 1, 1, 4, 8, 2, 2, 4, 8};
  return bytes[static_cast<int>(d)];
}

constexpr std::string_view name_of(dtype d) {
  constexpr std::string_view names[] = {"none",  "bool", "int8",     "uint8", "int32",
                                        "int64", "half", "bfloat16", "float", "double"};
  return names[static_cast<int>(d)];
}

}  // namespace flowgraph
