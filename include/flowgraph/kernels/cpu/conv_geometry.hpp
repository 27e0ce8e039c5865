// Where image, filter and result of a convolution meet, and the patches under the window as rows of a matrix.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/conv2d.hpp>
#include "runs.hpp"

namespace flowgraph::detail {

// Images [images, height, width, channels], filters [kernel_height, kernel_width, group_channels, results].
struct conv_geometry {
  std::int64_t images, height, width, channels;
  std::int64_t kernel_height, kernel_width, group_channels, results;
  std::int64_t result_height, result_width;
  std::int64_t groups, group_results;
  std::int64_t stride[2], dilation[2], before[2];

  conv_geometry(const conv& c, const array_view& x, const array_view& w, const array_view& y)
      : images(x.dim(0)),
        height(x.dim(1)),
        width(x.dim(2)),
        channels(x.dim(3)),
        kernel_height(w.dim(0)),
        kernel_width(w.dim(1)),
        group_channels(w.dim(2)),
        results(w.dim(3)),
        result_height(y.dim(1)),
        result_width(y.dim(2)),
        groups(c.groups),
        group_results(w.dim(3) / c.groups) {
    for (int axis = 0; axis < 2; ++axis) {
      stride[axis] = c.stride[axis];
      dilation[axis] = c.dilation[axis];
      before[axis] = ops::axis_of(c, w.dim(axis), axis).padding_before(x.dim(axis + 1), y.dim(axis + 1));
    }
  }

  std::int64_t patch() const { return kernel_height * kernel_width * group_channels; }
  std::int64_t pixels() const { return result_height * result_width; }  // of one result
  std::int64_t rows() const { return images * pixels(); }               // one for each result pixel
  // Rows of `columns` elements that are made at a time, so that they stay in the cache.
  std::int64_t chunk(std::int64_t columns) const {
    constexpr std::int64_t least = 64, elements = 1 << 17;
    return std::max(least, elements / std::max<std::int64_t>(columns, 1) / 8 * 8);
  }
  bool depthwise() const { return groups > 1 && group_channels == 1; }
  bool unit_stride() const { return stride[0] == 1 && stride[1] == 1; }
  // The image's pixels are the patches as they lie.
  bool pointwise() const {
    return kernel_height == 1 && kernel_width == 1 && unit_stride() && before[0] == 0 && before[1] == 0 &&
           result_height == height && result_width == width;
  }
  // The gradient by the image is itself a convolution where the stride is 1: of the result's gradient, with the
  // filter turned around in both axes and its channels exchanged.
  conv_geometry reversed() const {
    conv_geometry r = *this;
    r.height = result_height, r.width = result_width, r.channels = results;
    r.result_height = height, r.result_width = width, r.results = channels;
    r.group_channels = group_results, r.group_results = group_channels;
    r.before[0] = (kernel_height - 1) * dilation[0] - before[0];
    r.before[1] = (kernel_width - 1) * dilation[1] - before[1];
    return r;
  }

  // f(tap, pixel) for every place of the filter that meets the image where result pixel `row` is made; tap counts
  // the filter's places, pixel the images' pixels.
  template <class F>
  void for_each_tap(std::int64_t row, const F& f) const {
    const std::int64_t j = row % result_width, i = row / result_width % result_height;
    const std::int64_t image = row / pixels() * height;
    const std::int64_t top = i * stride[0] - before[0], left = j * stride[1] - before[1];
    for (std::int64_t u = 0; u < kernel_height; ++u) {
      const std::int64_t y = top + u * dilation[0];
      if (y < 0 || y >= height) continue;
      for (std::int64_t v = 0; v < kernel_width; ++v) {
        const std::int64_t x = left + v * dilation[1];
        if (x >= 0 && x < width) f(u * kernel_width + v, (image + y) * width + x);
      }
    }
  }
};

// Columns [from, to) of patches, which have one for each tap and channel of the group.
struct patch_columns {
  std::int64_t from, to;
  std::int64_t count() const { return to - from; }
};

// These columns of the patches of result pixels first to first + count - 1 for one group: [count, columns].
template <class T>
void gather_patches(const conv_geometry& g, const T* x, std::int64_t group, std::int64_t first, std::int64_t count,
                    const patch_columns& columns, T* patches) {
  if (columns.count() == 0) return;
  const std::int64_t n = g.group_channels, line = g.kernel_width * n;
  const bool runs = g.dilation[1] == 1 && g.groups == 1;  // neighbouring taps are neighbours in the image, too
  std::int64_t j = first % g.result_width, i = first / g.result_width % g.result_height;
  std::int64_t image = first / g.pixels() * g.height;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t top = i * g.stride[0] - g.before[0], left = j * g.stride[1] - g.before[1];
    for (std::int64_t u = columns.from / line; u * line < columns.to; ++u) {
      const std::int64_t begin = std::max(u * line, columns.from) - u * line;  // within this line of the filter
      const std::int64_t end = std::min((u + 1) * line, columns.to) - u * line;
      const auto out = [&](std::int64_t at) { return patches + (u * line - columns.from + at); };
      const std::int64_t y = top + u * g.dilation[0];
      if (y < 0 || y >= g.height) {
        std::fill(out(begin), out(end), T(0));
      } else if (runs) {
        const std::int64_t inside = std::clamp(-left * n, begin, end);
        const std::int64_t outside = std::clamp((g.width - left) * n, inside, end);
        std::fill(out(begin), out(inside), T(0));
        std::copy_n(x + (((image + y) * g.width + left) * n + inside), outside - inside, out(inside));
        std::fill(out(outside), out(end), T(0));
      } else {
        for (std::int64_t v = begin / n; v * n < end; ++v) {
          const std::int64_t c0 = std::max(v * n, begin) - v * n, c1 = std::min((v + 1) * n, end) - v * n;
          const std::int64_t at = left + v * g.dilation[1];
          if (at < 0 || at >= g.width)
            std::fill(out(v * n + c0), out(v * n + c1), T(0));
          else
            std::copy_n(x + ((image + y) * g.width + at) * g.channels + group * n + c0, c1 - c0, out(v * n + c0));
        }
      }
    }
    patches += columns.count();
    if (++j == g.result_width) {
      j = 0;
      if (++i == g.result_height) i = 0, image += g.height;
    }
  }
}

// Adds patches back to where they came from.
template <class T>
void scatter_patches(const conv_geometry& g, const T* patches, std::int64_t group, std::int64_t first,
                     std::int64_t count, T* x) {
  const std::int64_t n = g.group_channels;
  for (std::int64_t r = 0; r < count; ++r, patches += g.patch())
    g.for_each_tap(first + r, [&](std::int64_t tap, std::int64_t pixel) {
      add_run(x + pixel * g.channels + group * n, patches + tap * n, n);
    });
}

}  // namespace flowgraph::detail
