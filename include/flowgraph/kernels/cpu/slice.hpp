// Boxes and strides cut out of arrays, and set into them.
#pragma once
#include <string>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/core/error.hpp>
#include <flowgraph/ops/slice.hpp>
#include "element.hpp"
#include "strided_copy.hpp"

namespace flowgraph {

namespace detail {

// Begins and extents were checked when the graph was built, but for named extents.
inline void check_box(const array_view& whole, const array_view& box, const std::int64_t* begin) {
  for (int i = 0; i < box.rank; ++i)
    if (begin[i] + box.dim(i) > whole.dim(i))
      throw execution_error(problem::slice_bounds, "axis " + std::to_string(i) + ": " + std::to_string(box.dim(i)) +
                                                       " elements from " + std::to_string(begin[i]) +
                                                       " on do not lie within " + std::to_string(whole.dim(i)));
}

// Walks the strided elements of whole and all of part together; returns the offset of the first in whole.
inline std::int64_t walk_strides(const array_view& whole, const array_view& part, const ops::stride_attrs& a,
                                 strided_copy& copy, bool into_whole) {
  const row_major outside(whole), inside(part);
  std::int64_t first = 0;
  for (int i = 0; i < part.rank; ++i) {
    const ops::walk w = ops::resolve_walk(whole.dim(i), a.begin[i], a.end[i], a.stride[i]);
    if (w.count != part.dim(i))
      throw execution_error(problem::slice_bounds, "axis " + std::to_string(i) + ": the bounds of strided_slice need " +
                                                       "more than " + std::to_string(whole.dim(i)) + " elements");
    if (w.count > 0) first += w.first * outside[i];
    const std::int64_t stride = a.stride[i] * outside[i];
    copy.axis(w.count, into_whole ? stride : inside[i], into_whole ? inside[i] : stride);
  }
  return first;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::slice> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &x = k.in[0], &y = k.out[0];
    const auto a = k.attrs<ops::box_attrs>();
    detail::check_box(x, y, a.begin);
    const detail::row_major from(x), to(y);
    detail::strided_copy copy;
    std::int64_t first = 0;
    for (int i = 0; i < y.rank; ++i) {
      first += a.begin[i] * from[i];
      copy.axis(y.dim(i), to[i], from[i]);
    }
    copy.run<sizeof(T)>(k, y, 0, x, first);
  }
};

template <>
struct cpu_kernel<ops::pad> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &x = k.in[0], &y = k.out[0];
    const auto a = k.attrs<ops::pad::attrs>();
    detail::check_box(y, x, a.begin);
    detail::fill(k, y.as<T>(), y.size(), detail::from_word<T>(a.value));
    const detail::row_major from(x), to(y);
    detail::strided_copy copy;
    std::int64_t first = 0;
    for (int i = 0; i < y.rank; ++i) {
      first += a.begin[i] * to[i];
      copy.axis(x.dim(i), to[i], from[i]);
    }
    copy.run<sizeof(T)>(k, y, first, x, 0);
  }
};

template <>
struct cpu_kernel<ops::strided_slice> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::strided_copy copy;
    const std::int64_t first = detail::walk_strides(k.in[0], k.out[0], k.attrs<ops::stride_attrs>(), copy, false);
    copy.run<sizeof(T)>(k, k.out[0], 0, k.in[0], first);
  }
};

template <>
struct cpu_kernel<ops::strided_slice_gradient> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::strided_copy copy;
    const std::int64_t first = detail::walk_strides(k.out[0], k.in[0], k.attrs<ops::stride_attrs>(), copy, true);
    detail::fill(k, k.out[0].as<T>(), k.out[0].size(), T{});
    copy.run<sizeof(T)>(k, k.out[0], first, k.in[0], 0);
  }
};

using slice_kernels = type_list<ops::slice, ops::pad, ops::strided_slice, ops::strided_slice_gradient>;

}  // namespace flowgraph
