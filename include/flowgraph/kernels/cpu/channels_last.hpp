// Images in the other layout: [batch, channels, height, width] operands are turned into channels-last copies, the
// kernel computes on those, and a result that is an image is turned back.
#pragma once
#include <cstdint>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/window.hpp>
#include "in_float.hpp"
#include "scratch.hpp"
#include "transpose.hpp"

namespace flowgraph::detail {

struct channels_last_copies;  // the use of the scratch memory

struct turned_image {
  array_view view;
  std::int64_t dims[4];

  // The same image with channels last; its memory is set later.
  void describe(const array_view& image) {
    dims[0] = image.dim(0), dims[1] = image.dim(2), dims[2] = image.dim(3), dims[3] = image.dim(1);
    view = {nullptr, dims, 4, image.type};
  }
};

// compute(in, out) with all images channels last. Bit i of `images`: operand i is one; bit 8: the result is.
template <class T, class F>
void with_channels_last(const kernel_args& k, image_layout layout, unsigned images, const F& compute) {
  if (layout == nhwc) return compute(k.in, k.out[0]);
  constexpr int most = 2;
  constexpr unsigned result_bit = 1u << 8;
  array_view in[most];
  turned_image turned[most + 1];
  std::int64_t total = 0;
  for (int i = 0; i < k.n_in; ++i) {
    in[i] = k.in[i];
    if (((images >> i) & 1) != 0) total += aligned_count(k.in[i].size());
  }
  if ((images & result_bit) != 0) total += aligned_count(k.out[0].size());
  T* free = scratch<T, channels_last_copies>(total);
  const auto place = [&free](turned_image& t, const array_view& image) {
    t.describe(image);
    t.view.data = free;
    free += aligned_count(image.size());
  };
  for (int i = 0; i < k.n_in; ++i) {
    if (((images >> i) & 1) == 0) continue;
    place(turned[i], k.in[i]);
    in[i] = turned[i].view;
    ops::permutation p{};
    p.set(0, 0), p.set(1, 2), p.set(2, 3), p.set(3, 1);
    copy_permuted(k, k.in[i].as<const T>(), in[i].as<T>(), permuted_axes(k.in[i], p));
  }
  array_view out = k.out[0];
  if ((images & result_bit) != 0) {
    place(turned[most], out);
    out = turned[most].view;
  }
  compute(static_cast<const array_view*>(in), out);
  if ((images & result_bit) == 0) return;
  ops::permutation back{};
  back.set(0, 0), back.set(1, 3), back.set(2, 1), back.set(3, 2);
  copy_permuted(k, out.as<const T>(), k.out[0].as<T>(), permuted_axes(out, back));
}

}  // namespace flowgraph::detail
