// Random numbers on the CPU.
#pragma once
#include <flowgraph/kernels/distributions.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/dropout.hpp>
#include <flowgraph/ops/random.hpp>

namespace flowgraph {

namespace detail {

// The numbers of a node, or of whoever else is named, in this turn of the loops around it.
inline random_stream stream_of(const kernel_args& k, std::uint64_t node, std::uint64_t turn) {
  return {k.context->seed, turn == 0 ? node : mix(turn, node), k.context->step};
}
inline random_stream stream_of(const kernel_args& k) { return stream_of(k, k.node, k.context->turn); }

using real_types = type_list<float, double, half, bfloat16>;

// fill(stream, out, range) over parts of the result. Drawing a number takes some ten operations.
template <class T, class Fill>
void fill_in_parts(const kernel_args& k, const Fill& fill) {
  const random_stream stream = stream_of(k);
  parallel_for(k, k.out[0].size(), part_size(16, 4), [&](std::int64_t first, std::int64_t last) {
    fill(stream, k.out[0].as<T>(), index_range{first, last});
  });
}

}  // namespace detail

template <>
struct cpu_kernel<ops::random_uniform> {
  using types = type_list<float, double, half, bfloat16, std::int32_t, std::int64_t>;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::random_uniform::attrs>();
    detail::fill_in_parts<T>(k, [&](const random_stream& stream, T* out, const index_range& range) {
      fill_uniform(stream, out, range, a.low, a.high);
    });
  }
};

template <>
struct cpu_kernel<ops::random_normal> {
  using types = detail::real_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::normal_attrs>();
    detail::fill_in_parts<T>(k, [&](const random_stream& stream, T* out, const index_range& range) {
      fill_normal(stream, out, range, a.mean, a.deviation);
    });
  }
};

template <>
struct cpu_kernel<ops::truncated_normal> {
  using types = detail::real_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::normal_attrs>();
    detail::fill_in_parts<T>(k, [&](const random_stream& stream, T* out, const index_range& range) {
      fill_truncated_normal(stream, out, range, a.mean, a.deviation);
    });
  }
};

template <>
struct cpu_kernel<ops::bernoulli> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::bernoulli::attrs>();
    detail::fill_in_parts<T>(k, [&](const random_stream& stream, T* out, const index_range& range) {
      fill_bernoulli(stream, out, range, a.probability);
    });
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

template <>
struct cpu_kernel<ops::dropout> {
  using types = detail::real_types;
  template <class T>
  static void run(const kernel_args& k) {
    using wide = detail::wide_t<T>;
    const auto a = k.attrs<ops::dropout::attrs>();
    const auto turn = k.n_in > 1 ? static_cast<std::uint64_t>(*k.in[1].as<const std::int64_t>()) : k.context->turn;
    const random_stream stream = detail::stream_of(k, static_cast<std::uint64_t>(a.stream), turn);
    const T* const x = k.in[0].as<const T>();
    T* const y = k.out[0].as<T>();
    const auto threshold = static_cast<std::uint64_t>((1 - a.rate) * 0x1p32);
    const wide scale = static_cast<wide>(1 / (1 - a.rate));
    parallel_for(k, k.out[0].size(), part_size(16, 4), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t at = first; at < last; at += 4) {
        const philox_block block = stream.block(static_cast<std::uint64_t>(at / 4));
        for (int i = 0; i < 4 && at + i < last; ++i)
          y[at + i] = block.word[i] < threshold ? static_cast<T>(static_cast<wide>(x[at + i]) * scale) : T{};
      }
    });
  }
};

template <>
struct cpu_kernel<ops::turn> {
  static void run(const kernel_args& k) { *k.out[0].as<std::int64_t>() = static_cast<std::int64_t>(k.context->turn); }
};

using random_kernels = type_list<ops::turn, ops::random_uniform, ops::random_normal, ops::truncated_normal,
                                 ops::bernoulli, ops::random_permutation, ops::dropout>;

}  // namespace flowgraph
