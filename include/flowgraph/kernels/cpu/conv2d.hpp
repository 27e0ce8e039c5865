// Convolution as a matrix product: the patches under the window, as rows of a matrix, times the filter. Only a few
// hundred rows are made at a time, so that they stay in the cache. With one input channel for each group
// (depthwise) there is no product to speak of, and the taps are visited directly.
#pragma once
#include <algorithm>
#include <cstdint>

#include <Eigen/Core>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/conv2d.hpp>
#include "scratch.hpp"

namespace flowgraph::detail {

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
  std::int64_t rows() const { return images * result_height * result_width; }  // of the result, one for each pixel
  std::int64_t chunk() const {
    constexpr std::int64_t least = 64, elements = 1 << 17;
    return std::min(rows(), std::max(least, elements / std::max<std::int64_t>(patch(), 1)));
  }
  bool depthwise() const { return groups > 1 && group_channels == 1; }
  // The image's pixels are the patches as they lie.
  bool pointwise() const {
    return kernel_height == 1 && kernel_width == 1 && stride[0] == 1 && stride[1] == 1 && before[0] == 0 &&
           before[1] == 0 && result_height == height && result_width == width;
  }

  // f(tap, pixel) for every place of the filter that meets the image where result pixel `row` is made; tap counts
  // the filter's places, pixel the images' pixels.
  template <class F>
  void for_each_tap(std::int64_t row, const F& f) const {
    const std::int64_t j = row % result_width, i = row / result_width % result_height;
    const std::int64_t image = row / (result_width * result_height) * height;
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

template <class T>
using row_major_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using strided_matrix = Eigen::Map<row_major_matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using const_strided_matrix = Eigen::Map<const row_major_matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using vector_map = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using const_vector_map = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

// The patches of result pixels first to first + count - 1 for one group: [count, patch].
template <class T>
void gather_patches(const conv_geometry& g, const T* x, std::int64_t group, std::int64_t first, std::int64_t count,
                    T* patches) {
  const std::int64_t n = g.group_channels;
  std::fill(patches, patches + count * g.patch(), T(0));
  for (std::int64_t r = 0; r < count; ++r, patches += g.patch())
    g.for_each_tap(first + r, [&](std::int64_t tap, std::int64_t pixel) {
      std::copy_n(x + pixel * g.channels + group * n, n, patches + tap * n);
    });
}

// Adds patches back to where they came from.
template <class T>
void scatter_patches(const conv_geometry& g, const T* patches, std::int64_t group, std::int64_t first,
                     std::int64_t count, T* x) {
  const std::int64_t n = g.group_channels;
  for (std::int64_t r = 0; r < count; ++r, patches += g.patch())
    g.for_each_tap(first + r, [&](std::int64_t tap, std::int64_t pixel) {
      vector_map<T>(x + pixel * g.channels + group * n, n) += const_vector_map<T>(patches + tap * n, n);
    });
}

// c += a b: one tap of a depthwise convolution with one result for each channel.
template <class T>
void multiply_add(T* c, const T* a, const T* b, std::int64_t n) {
  vector_map<T>(c, n) += const_vector_map<T>(a, n) * const_vector_map<T>(b, n);
}

// f(group, first, count) over chunks of the result's pixels, for each group.
template <class F>
void for_each_chunk(const conv_geometry& g, const F& f) {
  for (std::int64_t first = 0; first < g.rows(); first += g.chunk())
    for (std::int64_t group = 0; group < g.groups; ++group) f(group, first, std::min(g.chunk(), g.rows() - first));
}

}  // namespace flowgraph::detail

namespace flowgraph {

template <>
struct cpu_kernel<ops::conv2d> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::conv_geometry g(k.attrs<conv>(), k.in[0], k.in[1], k.out[0]);
    const T *x = k.in[0].as<const T>(), *w = k.in[1].as<const T>();
    T* y = k.out[0].as<T>();
    if (g.depthwise()) return depthwise(g, x, w, y);
    T* const patches = g.pointwise() ? nullptr : detail::scratch<T>(g.chunk() * g.patch());
    detail::for_each_chunk(g, [&](std::int64_t group, std::int64_t first, std::int64_t count) {
      if (patches != nullptr) detail::gather_patches(g, x, group, first, count, patches);
      const T* from = patches != nullptr ? patches : x + first * g.channels + group * g.group_channels;
      const detail::const_strided_matrix<T> rows(from, count, g.patch(),
                                                 Eigen::OuterStride<>(patches != nullptr ? g.patch() : g.channels));
      const detail::const_strided_matrix<T> filter(w + group * g.group_results, g.patch(), g.group_results,
                                                   Eigen::OuterStride<>(g.results));
      detail::strided_matrix<T>(y + first * g.results + group * g.group_results, count, g.group_results,
                                Eigen::OuterStride<>(g.results))
          .noalias() = rows * filter;
    });
  }

 private:
  template <class T>
  static void depthwise(const detail::conv_geometry& g, const T* x, const T* w, T* y) {
    std::fill(y, y + g.rows() * g.results, T(0));
    for (std::int64_t row = 0; row < g.rows(); ++row, y += g.results)
      g.for_each_tap(row, [&](std::int64_t tap, std::int64_t pixel) {
        const T *from = x + pixel * g.channels, *filter = w + tap * g.results;
        if (g.group_results == 1) return detail::multiply_add(y, from, filter, g.channels);
        for (std::int64_t c = 0, o = 0; c < g.channels; ++c)
          for (const std::int64_t end = o + g.group_results; o < end; ++o) y[o] += from[c] * filter[o];
      });
  }
};

template <>
struct cpu_kernel<ops::conv2d_input_gradient> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::conv_geometry g(k.attrs<conv>(), k.out[0], k.in[1], k.in[0]);
    const T *y = k.in[0].as<const T>(), *w = k.in[1].as<const T>();
    T* x = k.out[0].as<T>();
    std::fill(x, x + k.out[0].size(), T(0));
    if (g.depthwise()) return depthwise(g, y, w, x);
    T* const patches = g.pointwise() ? nullptr : detail::scratch<T>(g.chunk() * g.patch());
    detail::for_each_chunk(g, [&](std::int64_t group, std::int64_t first, std::int64_t count) {
      const detail::const_strided_matrix<T> dy(y + first * g.results + group * g.group_results, count, g.group_results,
                                               Eigen::OuterStride<>(g.results));
      const detail::const_strided_matrix<T> filter(w + group * g.group_results, g.patch(), g.group_results,
                                                   Eigen::OuterStride<>(g.results));
      T* to = patches != nullptr ? patches : x + first * g.channels + group * g.group_channels;
      detail::strided_matrix<T>(to, count, g.patch(), Eigen::OuterStride<>(patches != nullptr ? g.patch() : g.channels))
          .noalias() = dy * filter.transpose();
      if (patches != nullptr) detail::scatter_patches(g, patches, group, first, count, x);
    });
  }

 private:
  template <class T>
  static void depthwise(const detail::conv_geometry& g, const T* y, const T* w, T* x) {
    for (std::int64_t row = 0; row < g.rows(); ++row, y += g.results)
      g.for_each_tap(row, [&](std::int64_t tap, std::int64_t pixel) {
        const T* filter = w + tap * g.results;
        T* to = x + pixel * g.channels;
        if (g.group_results == 1) return detail::multiply_add(to, y, filter, g.channels);
        for (std::int64_t c = 0, o = 0; c < g.channels; ++c)
          for (const std::int64_t end = o + g.group_results; o < end; ++o) to[c] += y[o] * filter[o];
      });
  }
};

template <>
struct cpu_kernel<ops::conv2d_filter_gradient> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::conv_geometry g(k.attrs<conv>(), k.in[0], k.out[0], k.in[1]);
    const T *x = k.in[0].as<const T>(), *y = k.in[1].as<const T>();
    T* w = k.out[0].as<T>();
    std::fill(w, w + k.out[0].size(), T(0));
    if (g.depthwise()) return depthwise(g, x, y, w);
    T* const patches = g.pointwise() ? nullptr : detail::scratch<T>(g.chunk() * g.patch());
    detail::for_each_chunk(g, [&](std::int64_t group, std::int64_t first, std::int64_t count) {
      if (patches != nullptr) detail::gather_patches(g, x, group, first, count, patches);
      const T* from = patches != nullptr ? patches : x + first * g.channels + group * g.group_channels;
      const detail::const_strided_matrix<T> rows(from, count, g.patch(),
                                                 Eigen::OuterStride<>(patches != nullptr ? g.patch() : g.channels));
      const detail::const_strided_matrix<T> dy(y + first * g.results + group * g.group_results, count, g.group_results,
                                               Eigen::OuterStride<>(g.results));
      detail::strided_matrix<T>(w + group * g.group_results, g.patch(), g.group_results,
                                Eigen::OuterStride<>(g.results))
          .noalias() += rows.transpose() * dy;
    });
  }

 private:
  template <class T>
  static void depthwise(const detail::conv_geometry& g, const T* x, const T* y, T* w) {
    for (std::int64_t row = 0; row < g.rows(); ++row, y += g.results)
      g.for_each_tap(row, [&](std::int64_t tap, std::int64_t pixel) {
        const T* from = x + pixel * g.channels;
        T* filter = w + tap * g.results;
        if (g.group_results == 1) return detail::multiply_add(filter, from, y, g.channels);
        for (std::int64_t c = 0, o = 0; c < g.channels; ++c)
          for (const std::int64_t end = o + g.group_results; o < end; ++o) filter[o] += from[c] * y[o];
      });
  }
};

using conv2d_kernels = type_list<ops::conv2d, ops::conv2d_input_gradient, ops::conv2d_filter_gradient>;

}  // namespace flowgraph
