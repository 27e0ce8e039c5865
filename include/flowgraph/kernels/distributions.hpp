// Distributions over a random stream: what random ops compute and what variables begin with. Element i takes its
// place's words of block i / n, where n elements share a block: no element depends on how many there are.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/dtype.hpp>
#include "philox.hpp"

namespace flowgraph {

// Elements first to last - 1 of an array. A number of elements stands for all of them.
struct index_range {
  std::int64_t first, last;

  constexpr index_range(std::int64_t count) : first(0), last(count) {}
  constexpr index_range(std::int64_t f, std::int64_t l) : first(f), last(l) {}
};

namespace detail {

// Numbers that one block of four words gives: two of 64 bits, four of anything smaller.
template <class T>
inline constexpr int numbers_per_block = sizeof(T) == 8 ? 2 : 4;

// draw(block, place) for every element of the range; N elements share a block.
template <int N, class T, class Draw>
void fill_by_block(const random_stream& stream, T* out, const index_range& r, const Draw& draw) {
  for (std::int64_t at = r.first; at < r.last;) {
    const philox_block block = stream.block(static_cast<std::uint64_t>(at / N));
    for (int i = static_cast<int>(at % N); i < N && at < r.last; ++i, ++at) out[at] = draw(block, i);
  }
}

// In [0, 1), every value a multiple of the spacing just below 1.
template <class T>
T unit_uniform(const philox_block& block, int place) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(block.pair(place) >> 11) * 0x1p-53;
  else if constexpr (std::is_same_v<T, half>)
    return half(static_cast<float>(block.word[place] >> 21) * 0x1p-11f);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return bfloat16(static_cast<float>(block.word[place] >> 24) * 0x1p-8f);
  else
    return static_cast<float>(block.word[place] >> 8) * 0x1p-24f;
}

// The upper half of a product of 128 bits.
constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t al = a & 0xFFFFFFFFu, ah = a >> 32, bl = b & 0xFFFFFFFFu, bh = b >> 32;
  const std::uint64_t middle = ah * bl + ((al * bl) >> 32);
  return ah * bh + (middle >> 32) + (((middle & 0xFFFFFFFFu) + al * bh) >> 32);
}

// What halves and bfloat16s are computed in.
template <class T>
using wide_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Box and Muller: of two uniform numbers, sqrt(-2 log u) cos(2 pi v) and sqrt(-2 log u) sin(2 pi v) are normal and
// independent. u keeps all bits of its words near 0, where the tail of the distribution is.
template <class T>
wide_t<T> unit_normal(const philox_block& block, int place) {
  using wide = wide_t<T>;
  constexpr wide two_pi = static_cast<wide>(6.283185307179586476925286766559);
  wide u, v;
  if constexpr (std::is_same_v<T, double>) {
    u = (static_cast<double>(block.pair(0)) + 0.5) * 0x1p-64;
    v = static_cast<double>(block.pair(1) >> 11) * 0x1p-53;
  } else {
    u = (static_cast<float>(block.word[place & 2]) + 0.5f) * 0x1p-32f;
    v = static_cast<float>(block.word[(place & 2) + 1] >> 8) * 0x1p-24f;
  }
  const wide radius = std::sqrt(-2 * std::log(u));
  return (place & 1) != 0 ? radius * std::sin(two_pi * v) : radius * std::cos(two_pi * v);
}

}  // namespace detail

// In [low, high); integers as well.
template <class T>
void fill_uniform(const random_stream& stream, T* out, const index_range& r, double low, double high) {
  if constexpr (std::is_integral_v<T>) {
    const auto first = static_cast<std::int64_t>(low);
    const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high)) - static_cast<std::uint64_t>(first);
    detail::fill_by_block<detail::numbers_per_block<T>>(stream, out, r, [&](const philox_block& block, int i) {
      std::uint64_t offset;
      if constexpr (sizeof(T) == 8)
        offset = detail::multiply_high(block.pair(i), span);
      else
        offset = (block.word[i] * span) >> 32;
      return static_cast<T>(first + static_cast<std::int64_t>(offset));
    });
  } else {
    using wide = detail::wide_t<T>;
    const T bottom = static_cast<T>(static_cast<wide>(low)), top = static_cast<T>(static_cast<wide>(high));
    const wide range = static_cast<wide>(high - low);
    // What rounds up to high becomes low, whose own interval of rounding lacks just that half.
    detail::fill_by_block<detail::numbers_per_block<T>>(stream, out, r, [&](const philox_block& block, int i) {
      const T x = static_cast<T>(static_cast<wide>(low) + range * detail::unit_uniform<T>(block, i));
      return x < top ? x : bottom;
    });
  }
}

template <class T>
void fill_normal(const random_stream& stream, T* out, const index_range& r, double mean, double deviation) {
  using wide = detail::wide_t<T>;
  detail::fill_by_block<detail::numbers_per_block<T>>(stream, out, r, [&](const philox_block& block, int i) {
    return static_cast<T>(static_cast<wide>(mean) + static_cast<wide>(deviation) * detail::unit_normal<T>(block, i));
  });
}

// As normal, drawn again where it lies more than two deviations from the mean.
template <class T>
void fill_truncated_normal(const random_stream& stream, T* out, const index_range& r, double mean, double deviation) {
  using wide = detail::wide_t<T>;
  constexpr int n = detail::numbers_per_block<T>;
  for (std::int64_t i = r.first; i < r.last; ++i) {
    wide z;
    std::uint32_t attempt = 0;
    do {
      const philox_block block = stream.block(static_cast<std::uint64_t>(i / n), attempt++);
      z = detail::unit_normal<T>(block, static_cast<int>(i % n));
    } while (z < -2 || z > 2);
    out[i] = static_cast<T>(static_cast<wide>(mean) + static_cast<wide>(deviation) * z);
  }
}

// 1 with this probability, else 0. The same draws for every T: a mask does not depend on its element type.
template <class T>
void fill_bernoulli(const random_stream& stream, T* out, const index_range& r, double probability) {
  const auto threshold = static_cast<std::uint64_t>(probability * 0x1p32);
  detail::fill_by_block<4>(stream, out, r,
                           [&](const philox_block& block, int i) { return static_cast<T>(block.word[i] < threshold); });
}

// 0 to count-1 in a random order (Fisher and Yates).
template <class T>
void fill_permutation(const random_stream& stream, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const philox_block block = stream.block(static_cast<std::uint64_t>(i / 2));
    const auto j = static_cast<std::int64_t>(
        detail::multiply_high(block.pair(static_cast<int>(i % 2)), static_cast<std::uint64_t>(i + 1)));
    if (j != i) out[i] = out[j];
    out[j] = static_cast<T>(i);
  }
}

}  // namespace flowgraph
