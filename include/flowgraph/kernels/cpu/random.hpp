// Random numbers on the CPU.
#pragma once
#include <flowgraph/kernels/distributions.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/random.hpp>

namespace flowgraph {

namespace detail {

inline random_stream stream_of(const kernel_args& k) { return {k.context->seed, k.node, k.context->step}; }

using real_types = type_list<float, double, half, bfloat16>;

}  // namespace detail

template <>
struct cpu_kernel<ops::random_uniform> {
  using types = type_list<float, double, half, bfloat16, std::int32_t, std::int64_t>;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::random_uniform::attrs>();
    fill_uniform(detail::stream_of(k), k.out[0].as<T>(), k.out[0].size(), a.low, a.high);
  }
};

template <>
struct cpu_kernel<ops::random_normal> {
  using types = detail::real_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::normal_attrs>();
    fill_normal(detail::stream_of(k), k.out[0].as<T>(), k.out[0].size(), a.mean, a.deviation);
  }
};

template <>
struct cpu_kernel<ops::truncated_normal> {
  using types = detail::real_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::normal_attrs>();
    fill_truncated_normal(detail::stream_of(k), k.out[0].as<T>(), k.out[0].size(), a.mean, a.deviation);
  }
};

template <>
struct cpu_kernel<ops::bernoulli> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::bernoulli::attrs>();
    fill_bernoulli(detail::stream_of(k), k.out[0].as<T>(), k.out[0].size(), a.probability);
  }
};

template <>
struct cpu_kernel<ops::random_permutation> {
  using types = type_list<std::int32_t, std::int64_t>;
  template <class T>
  static void run(const kernel_args& k) {
    fill_permutation(detail::stream_of(k), k.out[0].as<T>(), k.out[0].size());
  }
};

using random_kernels =
    type_list<ops::random_uniform, ops::random_normal, ops::truncated_normal, ops::bernoulli, ops::random_permutation>;

}  // namespace flowgraph
