// Walking an array along some of its axes: what reductions, transposes and einsum share.
#pragma once
#include <cstdint>

#include <flowgraph/kernels/kernel.hpp>

namespace flowgraph::detail {

// Steps between neighbours are in elements.
struct strided_axis {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};

struct strided_axes {
  int count = 0;
  strided_axis axis[max_rank];

  void push(std::int64_t extent, std::int64_t stride) { axis[count++] = {extent, stride}; }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < count; ++i) n *= axis[i].extent;
    return n;
  }
  // Where element i lies, counting the last axis first.
  std::int64_t offset(std::int64_t i) const {
    std::int64_t at = 0;
    for (int k = count - 1; k >= 0; --k) {
      at += i % axis[k].extent * axis[k].stride;
      i /= axis[k].extent;
    }
    return at;
  }
};

// f(offset) for combinations first to last - 1 of indices, the last axis fastest; without axes there is one.
template <class F>
void for_each_offset(const strided_axes& axes, std::int64_t first, std::int64_t last, const F& f) {
  if (first >= last) return;
  std::int64_t index[max_rank] = {}, at = axes.offset(first), rest = first;
  for (int k = axes.count - 1; k >= 0; --k) {
    index[k] = rest % axes.axis[k].extent;
    rest /= axes.axis[k].extent;
  }
  for (std::int64_t i = first; i < last; ++i) {
    f(at);
    int k = axes.count - 1;
    for (; k >= 0; --k) {
      at += axes.axis[k].stride;
      if (++index[k] < axes.axis[k].extent) break;
      at -= axes.axis[k].stride * axes.axis[k].extent;
      index[k] = 0;
    }
  }
}

}  // namespace flowgraph::detail
