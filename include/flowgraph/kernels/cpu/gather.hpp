// Elements by position, and values added up at positions.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/ops/gather.hpp>
#include "element.hpp"
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
  else
    std::memcpy(target, origin, static_cast<std::size_t>(count) * Size);
}

template <class T>
void add_run(T* out, const T* in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = plus(out[i], in[i]);
}

// The offset in x of the k-th position of indices[..., depth], and how many elements lie behind it.
class nd_positions {
 public:
  nd_positions(const array_view& x, const array_view& indices)
      : x_(x),
        strides_(x),
        index_(indices),
        depth_(static_cast<int>(indices.last(0))) {
    for (int i = depth_; i < x.rank; ++i) run_ *= x.dim(i);
    for (int i = 0; i < indices.rank - 1; ++i) count_ *= indices.dim(i);
  }
  std::int64_t count() const { return count_; }
  std::int64_t run() const { return run_; }
  std::int64_t offset(std::int64_t k) const {
    std::int64_t at = 0;
    for (int i = 0; i < depth_; ++i) at += index_.at(k * depth_ + i, x_.dim(i)) * strides_[i];
    return at;
  }

 private:
  const array_view& x_;
  row_major strides_;
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
    for (std::int64_t o = 0; o < x.outer; ++o)
      for (std::int64_t i = 0; i < n; ++i)
        detail::copy_run<sizeof(T)>(k.out[0].data, (o * n + i) * x.inner, k.in[0].data,
                                    (o * x.extent + index.at(i, x.extent)) * x.inner, x.inner);
  }
};

template <>
struct cpu_kernel<ops::gather_gradient> {
  using types = summable_types;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::around_axis dx(k.out[0], k.attrs<ops::gather_attrs>().axis);
    const detail::positions index(k.in[0]);
    const std::int64_t n = k.in[0].size();
    T* const out = k.out[0].as<T>();
    const T* dy = k.in[1].as<const T>();
    std::fill_n(out, k.out[0].size(), T{});
    for (std::int64_t o = 0; o < dx.outer; ++o)
      for (std::int64_t i = 0; i < n; ++i, dy += dx.inner)
        detail::add_run(out + (o * dx.extent + index.at(i, dx.extent)) * dx.inner, dy, dx.inner);
  }
};

template <>
struct cpu_kernel<ops::gather_nd> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::nd_positions at(k.in[0], k.in[1]);
    for (std::int64_t i = 0; i < at.count(); ++i)
      detail::copy_run<sizeof(T)>(k.out[0].data, i * at.run(), k.in[0].data, at.offset(i), at.run());
  }
};

template <>
struct cpu_kernel<ops::scatter_nd> {
  using types = summable_types;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::nd_positions at(k.out[0], k.in[0]);
    T* const out = k.out[0].as<T>();
    std::fill_n(out, k.out[0].size(), T{});
    for (std::int64_t i = 0; i < at.count(); ++i)
      detail::add_run(out + at.offset(i), k.in[1].as<const T>() + i * at.run(), at.run());
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
    std::int64_t i = 0;
    for (std::int64_t o = 0; o < y.outer; ++o)
      for (std::int64_t j = 0; j < y.extent; ++j)
        for (std::int64_t c = 0; c < y.inner; ++c, ++i)
          detail::copy_run<sizeof(T)>(k.out[0].data, i, k.in[0].data,
                                      (o * x.extent + index.at(i, x.extent)) * x.inner + c, 1);
  }
};

template <>
struct cpu_kernel<ops::take_along_axis_gradient> {
  using types = summable_types;
  static constexpr int type_operand = 1;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t axis = k.attrs<ops::gather_attrs>().axis;
    const detail::around_axis dx(k.out[0], axis), dy(k.in[1], axis);
    const detail::positions index(k.in[0]);
    T* const out = k.out[0].as<T>();
    std::fill_n(out, k.out[0].size(), T{});
    std::int64_t i = 0;
    for (std::int64_t o = 0; o < dy.outer; ++o)
      for (std::int64_t j = 0; j < dy.extent; ++j)
        for (std::int64_t c = 0; c < dy.inner; ++c, ++i)
          detail::add_run(out + (o * dx.extent + index.at(i, dx.extent)) * dx.inner + c, k.in[1].as<const T>() + i, 1);
  }
};

using gather_kernels = type_list<ops::gather, ops::gather_gradient, ops::gather_nd, ops::scatter_nd,
                                 ops::take_along_axis, ops::take_along_axis_gradient>;

}  // namespace flowgraph
