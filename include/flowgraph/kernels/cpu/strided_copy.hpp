// Moving elements between two arrays along any strides: what slicing, padding, tiling, broadcasting, joining and
// reversing all are. Only the size of an element matters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <flowgraph/kernels/kernel.hpp>

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
  void run(const array_view& out, std::int64_t out_first, const array_view& in, std::int64_t in_first) const {
    if (empty_) return;
    std::byte* to = static_cast<std::byte*>(out.data) + out_first * Size;
    const std::byte* from = static_cast<const std::byte*>(in.data) + in_first * Size;
    const walked inner = n_ > 0 ? axes_[n_ - 1] : walked{1, 1, 1};
    const int outer = n_ > 0 ? n_ - 1 : 0;
    std::int64_t index[2 * max_rank]{};
    for (;;) {
      if (inner.out == 1 && inner.in == 1)
        std::memcpy(to, from, static_cast<std::size_t>(inner.count) * Size);
      else
        for (std::int64_t i = 0; i < inner.count; ++i)
          std::memcpy(to + i * inner.out * Size, from + i * inner.in * Size, Size);
      int a = outer - 1;
      for (; a >= 0 && ++index[a] == axes_[a].count; --a) {
        index[a] = 0;
        to -= (axes_[a].count - 1) * axes_[a].out * Size;
        from -= (axes_[a].count - 1) * axes_[a].in * Size;
      }
      if (a < 0) return;
      to += axes_[a].out * Size;
      from += axes_[a].in * Size;
    }
  }

 private:
  struct walked {
    std::int64_t count, out, in;
  };
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
