// Elements by position, and values added up at positions.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/gather.hpp>
#include "element.hpp"
#include "runs.hpp"
#include "strided_copy.hpp"

namespace flowgraph {

namespace detail {

// Positions of int32 or int64, each checked against the axis that it points into.
class positions {
 public:
  explicit positions(const array_view& indices) : data_(indices.data), wide_(indices.type == dtype::int64) {}

  std::int64_t at(std::int64_t i, std::int64_t extent) const {
    const std::int64_t p =
        wide_ ? static_cast<const std::int64_t*>(data_)[i] : static_cast<const std::int32_t*>(data_)[i];
    if (p < 0 || p >= extent) refuse(p, i, extent);
    return p;
  }

 private:
  [[noreturn]] static void refuse(std::int64_t p, std::int64_t i, std::int64_t extent) {
    throw execution_error(problem::index_out_of_range, "index " + std::to_string(p) + " (element " + std::to_string(i) +
                                                           " of the indices) does not lie within an axis of " +
                                                           std::to_string(extent));
  }

  const void* data_;
  bool wide_;
};

// Elements, or runs of them: a single one is moved without a call.
template <int Size>
void copy_run(void* out, std::int64_t to, const void* in, std::int64_t from, std::int64_t count) {
  std::byte* const target = static_cast<std::byte*>(out) + to * Size;
  const std::byte* const origin = static_cast<const std::byte*>(in) + from * Size;
  if (count == 1)
    std::memcpy(target, origin, Size);
  else if (count != 0)  // of nothing there may be no address
    std::memcpy(target, origin, static_cast<std::size_t>(count) * Size);
}

// Of any type, where runs.hpp adds floating-point numbers of the processor's.
template <class T>
void add_elements(T* out, const T* in, std::int64_t count) {
  if constexpr (std::is_floating_point_v<T>)
    add_run(out, in, count);
  else
    for (std::int64_t i = 0; i < count; ++i) out[i] = plus(out[i], in[i]);
}

// out[row(i)] += in[i] for n rows of `run` elements, into zeros. Each part has rows of the result to itself and looks
// at all positions, so that those of one row are added in their order.
template <class T, class Row>
void add_at_rows(const kernel_args& k, T* out, std::int64_t rows, std::int64_t run, std::int64_t n, const Row& row,
                 const T* in) {
  const std::int64_t most_parts = std::clamp<std::int64_t>(run / 4, 1, 16);  // looking must cost less than adding
  const std::int64_t each = std::max((rows + most_parts - 1) / most_parts, part_size(run));
  if (rows == 0)
    for (std::int64_t i = 0; i < n; ++i) row(i);  // no position lies within
  parallel_for(k, rows, each, [&](std::int64_t first, std::int64_t last) {
    std::fill(out + first * run, out + last * run, T{});
    for (std::int64_t i = 0; i < n; ++i)
      if (const std::int64_t r = row(i); r >= first && r < last) add_elements(out + r * run, in + i * run, run);
  });
}

// Positions in x, the k-th one of indices[..., depth], and how many elements lie behind each.
class nd_positions {
 public:
  nd_positions(const array_view& x, const array_view& indices)
      : x_(x),
        index_(indices),
        depth_(static_cast<int>(indices.last(0))) {
    for (int i = depth_; i < x.rank; ++i) run_ *= x.dim(i);
    for (int i = 0; i < indices.rank - 1; ++i) count_ *= indices.dim(i);
  }
  std::int64_t count() const { return count_; }
  std::int64_t run() const { return run_; }
  // How many positions x has.
  std::int64_t rows() const {
    std::int64_t n = 1;
    for (int i = 0; i < depth_; ++i) n *= x_.dim(i);
    return n;
  }
  // Which of them the k-th one is.
  std::int64_t row(std::int64_t k) const {
    std::int64_t at = 0;
    for (int i = 0; i < depth_; ++i) at = at * x_.dim(i) + index_.at(k * depth_ + i, x_.dim(i));
    return at;
  }

 private:
  const array_view& x_;
  positions index_;
  int depth_;
  std::int64_t run_ = 1;
  std::int64_t count_ = 1;
};

}  // namespace detail

template <>
struct cpu_kernel<ops::gather> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::around_axis x(k.in[0], k.attrs<ops::gather_attrs>().axis);
    const detail::positions index(k.in[1]);
    const std::int64_t n = k.in[1].size();
    parallel_for(k, x.outer * n, part_size(x.inner), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t at = first; at < last; ++at)
        detail::copy_run<sizeof(T)>(k.out[0].data, at * x.inner, k.in[0].data,
                                    (at / n * x.extent + index.at(at % n, x.extent)) * x.inner, x.inner);
    });
  }
};

template <>
struct cpu_kernel<ops::gather_gradient> {
  using types = number_types;
  static constexpr bool in_float = true;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::around_axis dx(k.out[0], k.attrs<ops::gather_attrs>().axis);
    const detail::positions index(k.in[0]);
    const std::int64_t n = k.in[0].size();
    const T* dy = k.in[1].as<const T>();
    for (std::int64_t o = 0; o < dx.outer; ++o)
      detail::add_at_rows(
          k, k.out[0].as<T>() + o * dx.extent * dx.inner, dx.extent, dx.inner, n,
          [&](std::int64_t i) { return index.at(i, dx.extent); }, dy + o * n * dx.inner);
  }
};

template <>
struct cpu_kernel<ops::gather_nd> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::nd_positions at(k.in[0], k.in[1]);
    parallel_for(k, at.count(), part_size(at.run()), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        detail::copy_run<sizeof(T)>(k.out[0].data, i * at.run(), k.in[0].data, at.row(i) * at.run(), at.run());
    });
  }
};

template <>
struct cpu_kernel<ops::scatter_nd> {
  using types = number_types;
  static constexpr bool in_float = true;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::nd_positions at(k.out[0], k.in[0]);
    const std::int64_t run = at.run(), rows = at.rows();
    detail::add_at_rows(
        k, k.out[0].as<T>(), rows, run, at.count(), [&](std::int64_t i) { return at.row(i); }, k.in[1].as<const T>());
  }
};

template <>
struct cpu_kernel<ops::take_along_axis> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t axis = k.attrs<ops::gather_attrs>().axis;
    const detail::around_axis x(k.in[0], axis), y(k.out[0], axis);
    const detail::positions index(k.in[1]);
    const std::int64_t block = y.extent * y.inner;
    parallel_for(k, y.outer * block, part_work, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        detail::copy_run<sizeof(T)>(k.out[0].data, i, k.in[0].data,
                                    (i / block * x.extent + index.at(i, x.extent)) * x.inner + i % y.inner, 1);
    });
  }
};

template <>
struct cpu_kernel<ops::take_along_axis_gradient> {
  using types = number_types;
  static constexpr bool in_float = true;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t axis = k.attrs<ops::gather_attrs>().axis;
    const detail::around_axis dx(k.out[0], axis), dy(k.in[1], axis);
    const detail::positions index(k.in[0]);
    T* const out = k.out[0].as<T>();
    const T* const from = k.in[1].as<const T>();
    const std::int64_t block = dy.extent * dy.inner, result = dx.extent * dx.inner;
    parallel_for(k, dy.outer, part_size(block), [&](std::int64_t first, std::int64_t last) {
      std::fill(out + first * result, out + last * result, T{});
      for (std::int64_t i = first * block; i < last * block; ++i) {
        T& to = out[(i / block * dx.extent + index.at(i, dx.extent)) * dx.inner + i % dy.inner];
        to = detail::plus(to, from[i]);
      }
    });
  }
};

using gather_kernels = type_list<ops::gather, ops::gather_gradient, ops::gather_nd, ops::scatter_nd,
                                 ops::take_along_axis, ops::take_along_axis_gradient>;

}  // namespace flowgraph
