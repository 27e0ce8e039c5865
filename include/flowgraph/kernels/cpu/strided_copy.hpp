// Moving elements between two arrays along any strides: what slicing, padding, tiling, broadcasting, joining and
// reversing all are. Only the size of an element matters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>

namespace flowgraph::detail {

// A walk over up to twice as many axes as a tensor has (tile splits each in two). Strides are in elements; a stride
// of 0 repeats, a negative one goes backwards.
class strided_copy {
 public:
  // From the outermost axis to the innermost. Neighbours that are contiguous on both sides become one.
  void axis(std::int64_t count, std::int64_t out_stride, std::int64_t in_stride) {
    empty_ = empty_ || count == 0;
    if (count == 1) return;
    if (n_ > 0 && axes_[n_ - 1].out == count * out_stride && axes_[n_ - 1].in == count * in_stride)
      axes_[n_ - 1] = {axes_[n_ - 1].count * count, out_stride, in_stride};
    else
      axes_[n_++] = {count, out_stride, in_stride};
  }

  // Offsets of the first element, in elements.
  template <int Size>
  void run(const kernel_args& k, const array_view& out, std::int64_t out_first, const array_view& in,
           std::int64_t in_first) const {
    if (empty_) return;
    std::byte* to = static_cast<std::byte*>(out.data) + out_first * Size;
    const std::byte* from = static_cast<const std::byte*>(in.data) + in_first * Size;
    const walked inner = n_ > 0 ? axes_[n_ - 1] : walked{1, 1, 1};
    std::int64_t rows = 1;
    for (int a = 0; a < n_ - 1; ++a) rows *= axes_[a].count;
    if (rows == 1)
      parallel_for(k, inner.count, part_work, [&](std::int64_t first, std::int64_t last) {
        copy_row<Size>(to + first * inner.out * Size, from + first * inner.in * Size, inner, last - first);
      });
    else
      parallel_for(k, rows, part_size(inner.count),
                   [&](std::int64_t first, std::int64_t last) { copy_rows<Size>(to, from, inner, first, last); });
  }

 private:
  struct walked {
    std::int64_t count, out, in;
  };

  template <int Size>
  static void copy_row(std::byte* to, const std::byte* from, const walked& inner, std::int64_t count) {
    if (inner.out == 1 && inner.in == 1)
      std::memcpy(to, from, static_cast<std::size_t>(count) * Size);
    else
      for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * inner.out * Size, from + i * inner.in * Size, Size);
  }
  // Rows of the innermost axis, counted along the others.
  template <int Size>
  void copy_rows(std::byte* to, const std::byte* from, const walked& inner, std::int64_t first,
                 std::int64_t last) const {
    std::int64_t index[2 * max_rank]{}, rest = first;
    for (int a = n_ - 2; a >= 0; --a) {
      index[a] = rest % axes_[a].count;
      rest /= axes_[a].count;
      to += index[a] * axes_[a].out * Size;
      from += index[a] * axes_[a].in * Size;
    }
    for (std::int64_t row = first;;) {
      copy_row<Size>(to, from, inner, inner.count);
      if (++row == last) return;
      int a = n_ - 2;
      for (; ++index[a] == axes_[a].count; --a) {
        index[a] = 0;
        to -= (axes_[a].count - 1) * axes_[a].out * Size;
        from -= (axes_[a].count - 1) * axes_[a].in * Size;
      }
      to += axes_[a].out * Size;
      from += axes_[a].in * Size;
    }
  }

  walked axes_[2 * max_rank];
  int n_ = 0;
  bool empty_ = false;
};

// Row-major strides of an array.
struct row_major {
  std::int64_t stride[max_rank]{};

  explicit row_major(const array_view& a) {
    std::int64_t n = 1;
    for (int i = a.rank - 1; i >= 0; --i) {
      stride[i] = n;
      n *= a.dim(i);
    }
  }
  std::int64_t operator[](int i) const { return stride[i]; }
};

// An axis with what lies outside and inside of it: [outer, extent, inner].
struct around_axis {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;

  around_axis(const array_view& a, std::int64_t axis) : extent(a.dim(static_cast<int>(axis))) {
    for (int i = 0; i < axis; ++i) outer *= a.dim(i);
    for (int i = static_cast<int>(axis) + 1; i < a.rank; ++i) inner *= a.dim(i);
  }
};

}  // namespace flowgraph::detail
