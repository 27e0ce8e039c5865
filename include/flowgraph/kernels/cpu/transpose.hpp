// Elements moved into another order of axes. Only the size of an element matters.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/transpose.hpp>
#include "strided.hpp"

namespace flowgraph {

namespace detail {

template <int Bytes>
struct element_of_size;
template <>
struct element_of_size<1> : std::type_identity<std::uint8_t> {};
template <>
struct element_of_size<2> : std::type_identity<std::uint16_t> {};
template <>
struct element_of_size<4> : std::type_identity<std::uint32_t> {};
template <>
struct element_of_size<8> : std::type_identity<std::uint64_t> {};

// from: the result's axes in its order, with the operand's strides; the result is contiguous.
template <class E>
void copy_permuted(const kernel_args& k, const E* x, E* y, strided_axes from) {
  if (from.size() == 0) return;
  if (from.count == 0) {
    *y = *x;
    return;
  }
  const strided_axis inner = from.axis[from.count - 1];
  if (inner.stride == 1) {
    --from.count;
    parallel_for(k, from.size(), part_size(inner.extent), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        std::memcpy(y + i * inner.extent, x + from.offset(i), static_cast<std::size_t>(inner.extent) * sizeof(E));
    });
    return;
  }
  // Two axes are contiguous on one side each: the result's last, and the one along which the operand is. Blocks of
  // both keep the lines that are read and written in cache. The other axes are walked around them.
  int contiguous = 0;
  for (int i = 0; i < from.count; ++i)
    if (from.axis[i].stride == 1) contiguous = i;
  strided_axes outer_from, outer_to;
  std::int64_t to_stride[max_rank], stride = 1;
  for (int i = from.count; i-- > 0; stride *= from.axis[i].extent) to_stride[i] = stride;
  for (int i = 0; i < from.count - 1; ++i)
    if (i != contiguous) {
      outer_from.push(from.axis[i].extent, from.axis[i].stride);
      outer_to.push(from.axis[i].extent, to_stride[i]);
    }
  const std::int64_t rows = from.axis[contiguous].extent, columns = inner.extent;
  const std::int64_t row_step = to_stride[contiguous], outer = outer_from.size();
  constexpr std::int64_t block = 32;
  const std::int64_t strips = (rows + block - 1) / block;
  parallel_for(k, outer * strips, part_size(columns * std::min(block, rows)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t s = first; s < last; ++s) {
                   const E* source = x + outer_from.offset(s / strips);
                   E* target = y + outer_to.offset(s / strips);
                   const std::int64_t r0 = s % strips * block, r1 = std::min(rows, r0 + block);
                   for (std::int64_t c0 = 0; c0 < columns; c0 += block)
                     for (std::int64_t r = r0; r < r1; ++r)
                       for (std::int64_t c = c0; c < columns && c < c0 + block; ++c)
                         target[r * row_step + c] = source[c * inner.stride + r];
                 }
               });
}

// Axes of extent 1 are dropped and neighbours that stay neighbours are one.
inline strided_axes permuted_axes(const array_view& x, const ops::permutation& p) {
  std::int64_t strides[max_rank], stride = 1;
  for (int i = x.rank; i-- > 0; stride *= x.dim(i)) strides[i] = stride;
  strided_axes axes;
  for (int i = 0; i < x.rank; ++i) {
    const int from = p.axis(i);
    if (x.dim(from) == 1) continue;
    if (axes.count > 0 && axes.axis[axes.count - 1].stride == strides[from] * x.dim(from)) {
      axes.axis[axes.count - 1].extent *= x.dim(from);
      axes.axis[axes.count - 1].stride = strides[from];
    } else {
      axes.push(x.dim(from), strides[from]);
    }
  }
  return axes;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::transpose> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    using element = typename detail::element_of_size<sizeof(T)>::type;
    detail::copy_permuted(k, k.in[0].as<const element>(), k.out[0].as<element>(),
                          detail::permuted_axes(k.in[0], k.attrs<ops::permutation>()));
  }
};

using transpose_kernels = type_list<ops::transpose>;

}  // namespace flowgraph
