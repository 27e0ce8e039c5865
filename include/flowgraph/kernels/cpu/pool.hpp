// Pooling by visiting each window's elements, all channels of a pixel at a time.
#pragma once
#include <algorithm>
#include <cstdint>

#include <Eigen/Core>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/pool.hpp>

namespace flowgraph::detail {

struct pool_geometry {
  std::int64_t images, height, width, channels, result_height, result_width;
  std::int64_t window[2], stride[2], before[2];

  pool_geometry(const pool& p, const array_view& x, const array_view& y)
      : images(x.dim(0)),
        height(x.dim(1)),
        width(x.dim(2)),
        channels(x.dim(3)),
        result_height(y.dim(1)),
        result_width(y.dim(2)) {
    for (int axis = 0; axis < 2; ++axis) {
      const ops::window_axis a = ops::axis_of(p, axis);
      window[axis] = a.window;
      stride[axis] = a.stride;
      before[axis] = a.padding_before(x.dim(axis + 1), y.dim(axis + 1));
    }
  }

  // f(result, top, bottom, left, right): a result pixel and the part of its window that lies within image `image`.
  template <class F>
  void for_each_window(const F& f) const {
    std::int64_t result = 0;
    for (std::int64_t image = 0; image < images; ++image)
      for (std::int64_t i = 0; i < result_height; ++i) {
        const std::int64_t y = i * stride[0] - before[0];
        const std::int64_t top = std::max<std::int64_t>(y, 0), bottom = std::min(y + window[0], height);
        for (std::int64_t j = 0; j < result_width; ++j, ++result) {
          const std::int64_t x = j * stride[1] - before[1];
          const std::int64_t left = std::max<std::int64_t>(x, 0), right = std::min(x + window[1], width);
          f(result, image * height + top, image * height + bottom, left, right);
        }
      }
  }
};

// f(result, source) for each element of the result and the largest element of its window, both counted from the
// first. The first of equal ones; NaN counts as the largest.
template <class T, class F>
void for_each_largest(const pool_geometry& g, const T* x, const F& f) {
  g.for_each_window(
      [&](std::int64_t result, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
        for (std::int64_t c = 0; c < g.channels; ++c) {
          std::int64_t best = (top * g.width + left) * g.channels + c;
          for (std::int64_t u = top; u < bottom; ++u)
            for (std::int64_t v = left; v < right; ++v) {
              const std::int64_t at = (u * g.width + v) * g.channels + c;
              if (x[at] > x[best] || (x[at] != x[at] && x[best] == x[best])) best = at;
            }
          f(result * g.channels + c, best);
        }
      });
}

}  // namespace flowgraph::detail

namespace flowgraph {

template <>
struct cpu_kernel<ops::max_pool> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const T* x = k.in[0].as<const T>();
    T* y = k.out[0].as<T>();
    detail::for_each_largest(detail::pool_geometry(k.attrs<pool>(), k.in[0], k.out[0]), x,
                             [&](std::int64_t result, std::int64_t source) { y[result] = x[source]; });
  }
};

template <>
struct cpu_kernel<ops::max_pool_gradient> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const T *x = k.in[0].as<const T>(), *dy = k.in[1].as<const T>();
    T* dx = k.out[0].as<T>();
    std::fill(dx, dx + k.out[0].size(), T(0));
    detail::for_each_largest(detail::pool_geometry(k.attrs<pool>(), k.in[0], k.in[1]), x,
                             [&](std::int64_t result, std::int64_t source) { dx[source] += dy[result]; });
  }
};

template <>
struct cpu_kernel<ops::max_pool_select> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const T *x = k.in[0].as<const T>(), *z = k.in[1].as<const T>();
    T* y = k.out[0].as<T>();
    detail::for_each_largest(detail::pool_geometry(k.attrs<pool>(), k.in[0], k.out[0]), x,
                             [&](std::int64_t result, std::int64_t source) { y[result] = z[source]; });
  }
};

template <>
struct cpu_kernel<ops::avg_pool> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::pool_geometry g(k.attrs<pool>(), k.in[0], k.out[0]);
    using pixel = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
    using const_pixel = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
    g.for_each_window(
        [&](std::int64_t result, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
          pixel y(k.out[0].as<T>() + result * g.channels, g.channels);
          y.setZero();
          for (std::int64_t u = top; u < bottom; ++u)
            for (std::int64_t v = left; v < right; ++v)
              y += const_pixel(k.in[0].as<const T>() + (u * g.width + v) * g.channels, g.channels);
          y /= static_cast<T>((bottom - top) * (right - left));
        });
  }
};

template <>
struct cpu_kernel<ops::avg_pool_gradient> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const detail::pool_geometry g(k.attrs<pool>(), k.out[0], k.in[0]);
    using pixel = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
    using const_pixel = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
    T* dx = k.out[0].as<T>();
    std::fill(dx, dx + k.out[0].size(), T(0));
    g.for_each_window(
        [&](std::int64_t result, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
          const const_pixel dy(k.in[0].as<const T>() + result * g.channels, g.channels);
          const T share = T(1) / static_cast<T>((bottom - top) * (right - left));
          for (std::int64_t u = top; u < bottom; ++u)
            for (std::int64_t v = left; v < right; ++v)
              pixel(dx + (u * g.width + v) * g.channels, g.channels) += dy * share;
        });
  }
};

// Each sum from scratch over at most 2 radius + 1 channels: a running sum would lose digits along the row.
template <>
struct cpu_kernel<ops::neighbour_sum> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t radius = k.attrs<ops::neighbour_sum::attrs>().radius, n = k.in[0].last(0);
    const T* x = k.in[0].as<const T>();
    T* y = k.out[0].as<T>();
    for (const T* end = x + k.in[0].size(); x != end; x += n, y += n)
      for (std::int64_t c = 0; c < n; ++c) {
        const std::int64_t first = std::max<std::int64_t>(c - radius, 0), last = std::min(c + radius, n - 1);
        T sum = 0;
        for (std::int64_t i = first; i <= last; ++i) sum += x[i];
        y[c] = sum;
      }
  }
};

using pool_kernels = type_list<ops::max_pool, ops::max_pool_gradient, ops::max_pool_select, ops::avg_pool,
                               ops::avg_pool_gradient, ops::neighbour_sum>;

}  // namespace flowgraph
