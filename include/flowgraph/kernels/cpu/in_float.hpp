// half and bfloat16 for every kernel that has float: operands are converted, the kernel computes in float, and each
// result is rounded once. So no kernel accumulates in 16 bits, and none is written for them.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include "scratch.hpp"

namespace flowgraph::detail {

#if defined(__F16C__)
using eight_halves = short __attribute__((vector_size(16)));
using eight_floats = float __attribute__((vector_size(32)));
#endif

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <class Op>
concept computes_in_float = requires { requires cpu_kernel<Op>::in_float; };

// Eight at once where the processor has instructions for half; shifting bfloat16 is as fast as it gets.
template <class T>
void widen(const T* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, half>) {
    for (; i + 8 <= n; i += 8) {
      eight_halves h;
      std::memcpy(&h, from + i, sizeof h);
      const eight_floats f = __builtin_ia32_vcvtph2ps256(h);
      std::memcpy(to + i, &f, sizeof f);
    }
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
template <class T>
void narrow(const float* from, T* to, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, half>) {
    for (; i + 8 <= n; i += 8) {
      eight_floats f;
      std::memcpy(&f, from + i, sizeof f);
      const eight_halves h = __builtin_ia32_vcvtps2ph256(f, 0);  // 0: to nearest, ties to even
      std::memcpy(static_cast<void*>(to + i), &h, sizeof h);
    }
  }
#endif
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
