// half and bfloat16 for every kernel that has float: operands are converted, the kernel computes in float, and each
// result is rounded once. So no kernel accumulates in 16 bits, and none is written for them.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Eigen/Core>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include "scratch.hpp"

namespace flowgraph::detail {

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <class Op>
concept computes_in_float = requires { requires cpu_kernel<Op>::in_float; };

// Eigen's half, for who converts T: its types are asked for where somebody does.
template <class T>
using eigen_half = std::conditional_t<std::is_same_v<T, half>, Eigen::half, T>;

// Eigen knows the processor's instructions for half; shifting bfloat16 is as fast as it gets.
template <class T>
void widen(const T* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (std::is_same_v<T, half>) {
    constexpr std::int64_t chunk = 64;
    Eigen::Array<eigen_half<T>, chunk, 1> part;
    for (; i + chunk <= n; i += chunk) {
      std::memcpy(static_cast<void*>(part.data()), from + i, sizeof part);
      Eigen::Map<Eigen::Array<float, chunk, 1>>(to + i) = part.template cast<float>();
    }
  }
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
template <class T>
void narrow(const float* from, T* to, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (std::is_same_v<T, half>) {
    constexpr std::int64_t chunk = 64;
    Eigen::Array<eigen_half<T>, chunk, 1> part;
    for (; i + chunk <= n; i += chunk) {
      part = Eigen::Map<const Eigen::Array<float, chunk, 1>>(from + i).template cast<eigen_half<T>>();
      std::memcpy(to + i, static_cast<const void*>(part.data()), sizeof part);
    }
  }
  for (; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

struct float_copies;  // the use of the scratch memory

// Copies begin at multiples of 64 bytes of the scratch memory.
constexpr std::int64_t aligned_count(std::int64_t n) { return (n + 15) / 16 * 16; }

template <class Op, class T>
void run_in_float(const kernel_args& k) {
  array_view in[inference::max_operands], out[inference::max_outputs];
  std::int64_t total = 0;
  const auto count = [&total](const array_view& a) {
    if (a.type == dtype_of<T>) total += aligned_count(a.size());
  };
  for (int i = 0; i < k.n_in; ++i) count(in[i] = k.in[i]);
  for (int i = 0; i < k.n_out; ++i) count(out[i] = k.out[i]);
  float* free = scratch<float, float_copies>(total);
  const auto replace = [&free](array_view& a) {
    if (a.type != dtype_of<T>) return;
    a.data = free;
    a.type = dtype::float32;
    free += aligned_count(a.size());
  };
  for (int i = 0; i < k.n_in; ++i) {
    replace(in[i]);
    if (in[i].data == k.in[i].data) continue;
    const T* from = k.in[i].as<const T>();
    float* to = in[i].as<float>();
    parallel_for(k, in[i].size(), part_work,
                 [=](std::int64_t first, std::int64_t last) { widen(from + first, to + first, last - first); });
  }
  for (int i = 0; i < k.n_out; ++i) replace(out[i]);
  kernel_args wide = k;
  wide.in = in;
  wide.out = out;
  cpu_kernel<Op>::template run<float>(wide);
  for (int i = 0; i < k.n_out; ++i) {
    if (out[i].data == k.out[i].data) continue;
    const float* from = out[i].as<const float>();
    T* to = k.out[i].as<T>();
    parallel_for(k, out[i].size(), part_work,
                 [=](std::int64_t first, std::int64_t last) { narrow(from + first, to + first, last - first); });
  }
}

}  // namespace flowgraph::detail
