// What control flow does to values: it copies them, where they are not in their place already.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/control.hpp>
#include "scratch.hpp"

namespace flowgraph {

namespace detail {

inline std::size_t bytes_of(const array_view& v) { return static_cast<std::size_t>(v.size() * size_of(v.type)); }

// A number stands for all elements of its result.
inline void spread_value(const array_view& from, const array_view& to) {
  const std::size_t all = bytes_of(to), one = static_cast<std::size_t>(size_of(to.type));
  if (all == 0) return;
  if (from.rank == to.rank) {
    std::memcpy(to.data, from.data, all);
  } else {
    char* const begin = to.as<char>();
    std::memcpy(begin, from.data, one);
    for (std::size_t done = one; done < all;) {  // doubled, as long as what is copied stays near
      const std::size_t more = std::min({done, all - done, std::size_t{1} << 14});
      std::memcpy(begin + done, begin, more);
      done += more;
    }
  }
}

// Operand k becomes result k, all of them at once: an operand may be another one's result.
struct copy_all {
  static void run(const kernel_args& k) {
    const auto moves = [&](int i) { return k.in[i].data != k.out[i].data; };
    const auto overwritten = [&](int i) {
      for (int j = 0; j < i; ++j)
        if (moves(j) && k.out[j].data == k.in[i].data) return true;
      return false;
    };
    std::size_t aside = 0;
    for (int i = 1; i < k.n_out; ++i)
      if (moves(i) && overwritten(i)) aside += bytes_of(k.in[i]);
    if (aside == 0) {
      for (int i = 0; i < k.n_out; ++i)
        if (moves(i)) spread_value(k.in[i], k.out[i]);
      return;
    }
    char* const kept = scratch<char, copy_all>(static_cast<std::int64_t>(aside));
    char* next = kept;
    for (int i = 1; i < k.n_out; ++i)
      if (moves(i) && overwritten(i) && bytes_of(k.in[i]) > 0) {
        std::memcpy(next, k.in[i].data, bytes_of(k.in[i]));
        next += bytes_of(k.in[i]);
      }
    next = kept;
    for (int i = 0; i < k.n_out; ++i) {
      if (!moves(i)) continue;
      array_view from = k.in[i];
      if (overwritten(i)) from.data = next, next += bytes_of(from);
      spread_value(from, k.out[i]);
    }
  }
};

struct goes_on {
  static void run(const kernel_args&) {}
};

}  // namespace detail

template <>
struct cpu_kernel<ops::enter> : detail::copy_all {};
template <>
struct cpu_kernel<ops::next_iteration> : detail::copy_all {};
template <>
struct cpu_kernel<ops::merge> : detail::copy_all {};
template <>
struct cpu_kernel<ops::switch_> : detail::goes_on {};
template <>
struct cpu_kernel<ops::exit> : detail::goes_on {};

using control_kernels = type_list<ops::enter, ops::next_iteration, ops::merge, ops::switch_, ops::exit>;

}  // namespace flowgraph
