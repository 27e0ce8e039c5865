// Pooling by visiting each window's pixels, all channels of a pixel at a time.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/pool.hpp>
#include "channels_last.hpp"
#include "lane_math.hpp"
#include "runs.hpp"
#include "strided_copy.hpp"

namespace flowgraph::detail {

// The part of a window that lies within the image; rows are counted over all images.
struct pool_window {
  std::int64_t result, top, bottom, left, right;
  std::int64_t pixels() const { return (bottom - top) * (right - left); }
};

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

  // f(window) for every result pixel of lines first to last - 1, counted over all images.
  template <class F>
  void for_each_window(std::int64_t first, std::int64_t last, const F& f) const {
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t image = line / result_height * height, y = line % result_height * stride[0] - before[0];
      const std::int64_t top = std::max<std::int64_t>(y, 0), bottom = std::min(y + window[0], height);
      for (std::int64_t j = 0; j < result_width; ++j) {
        const std::int64_t x = j * stride[1] - before[1];
        f(pool_window{line * result_width + j, image + top, image + bottom, std::max<std::int64_t>(x, 0),
                      std::min(x + window[1], width)});
      }
    }
  }
  std::int64_t line_work() const { return result_width * channels * window[0] * window[1]; }
  // Results have memory of their own: any lines may be computed at once.
  template <class F>
  void for_each_window(const kernel_args& k, const F& f) const {
    parallel_for(k, images * result_height, part_size(line_work()),
                 [&](std::int64_t first, std::int64_t last) { for_each_window(first, last, f); });
  }
  // Windows that overlap add to the same pixels of dx, which is cleared first: each image is one thread's.
  template <class T, class F>
  void for_each_window_by_image(const kernel_args& k, T* dx, const F& f) const {
    const std::int64_t size = height * width * channels;
    parallel_for(k, images, part_size(result_height * line_work()), [&](std::int64_t first, std::int64_t last) {
      std::fill(dx + first * size, dx + last * size, T(0));
      for_each_window(first * result_height, last * result_height, f);
    });
  }
};

// The largest elements of a window in as many channels as Count registers have, which stay in registers meanwhile. x,
// y: at the first of the channels. NaN counts as the largest.
template <int Count, class T>
void largest_in_lanes(const pool_geometry& g, const pool_window& w, const T* x, T* y) {
  constexpr int size = lane_count<T>;
  lanes<T> largest[Count];
  for (int i = 0; i < Count; ++i) largest[i] = lanes<T>::load(x + (w.top * g.width + w.left) * g.channels + i * size);
  for (std::int64_t u = w.top; u < w.bottom; ++u)
    for (std::int64_t v = w.left; v < w.right; ++v) {
      const T* const from = x + (u * g.width + v) * g.channels;
      for (int i = 0; i < Count; ++i) largest[i] = lane_math::max(largest[i], lanes<T>::load(from + i * size));
    }
  for (int i = 0; i < Count; ++i) largest[i].store(y + i * size);
}

// f(c, source) for each channel c of a window: where its largest element lies, counted from the first of the images.
// The first of equal ones; NaN counts as the largest.
template <class T, class F>
void for_each_largest(const pool_geometry& g, const pool_window& w, const T* x, const F& f) {
  constexpr std::int64_t tile = 64;
  const std::int64_t corner = w.top * g.width + w.left;
  for (std::int64_t c0 = 0; c0 < g.channels; c0 += tile) {
    const std::int64_t n = std::min(tile, g.channels - c0);
    T largest[tile];
    std::int32_t place[tile];  // pixels from the window's corner
    std::copy_n(x + corner * g.channels + c0, n, largest);
    std::fill_n(place, n, 0);
    for (std::int64_t u = w.top; u < w.bottom; ++u)
      for (std::int64_t v = w.left; v < w.right; ++v) {
        const T* from = x + (u * g.width + v) * g.channels + c0;
        const auto here = static_cast<std::int32_t>(u * g.width + v - corner);
        for (std::int64_t c = 0; c < n; ++c) {
          // Without branches, so that the compiler can do several channels at once.
          const bool larger = (from[c] > largest[c]) | ((from[c] != from[c]) & (largest[c] == largest[c]));
          largest[c] = larger ? from[c] : largest[c];
          place[c] = larger ? here : place[c];
        }
      }
    for (std::int64_t c = 0; c < n; ++c) f(c0 + c, (corner + place[c]) * g.channels + c0 + c);
  }
}

}  // namespace flowgraph::detail

namespace flowgraph {

template <>
struct cpu_kernel<ops::max_pool> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const pool p = k.attrs<pool>();
    detail::with_channels_last<T>(k, p.layout, 0x101, [&](const array_view* in, const array_view& out) {
      const detail::pool_geometry g(p, in[0], out);
      const T* x = in[0].as<const T>();
      constexpr int one = detail::lane_count<T>, several = 4;
      g.for_each_window(k, [&, n = g.channels](const detail::pool_window& w) {
        T* const y = out.as<T>() + w.result * n;
        std::int64_t c = 0;
        for (; c + several * one <= n; c += several * one) detail::largest_in_lanes<several>(g, w, x + c, y + c);
        for (; c + one <= n; c += one) detail::largest_in_lanes<1>(g, w, x + c, y + c);
        for (; c < n; ++c) {
          y[c] = x[(w.top * g.width + w.left) * n + c];
          for (std::int64_t u = w.top; u < w.bottom; ++u)
            for (std::int64_t v = w.left; v < w.right; ++v) {
              const T other = x[(u * g.width + v) * n + c];
              if (other > y[c] || other != other) y[c] = other;
            }
        }
      });
    });
  }
};

template <>
struct cpu_kernel<ops::max_pool_gradient> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const pool p = k.attrs<pool>();
    detail::with_channels_last<T>(k, p.layout, 0x103, [&](const array_view* in, const array_view& out) {
      const detail::pool_geometry g(p, in[0], in[1]);
      const T* x = in[0].as<const T>();
      T* dx = out.as<T>();
      g.for_each_window_by_image(k, dx, [&](const detail::pool_window& w) {
        const T* dy = in[1].as<const T>() + w.result * g.channels;
        detail::for_each_largest(g, w, x, [&](std::int64_t c, std::int64_t source) { dx[source] += dy[c]; });
      });
    });
  }
};

template <>
struct cpu_kernel<ops::max_pool_select> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const pool p = k.attrs<pool>();
    detail::with_channels_last<T>(k, p.layout, 0x103, [&](const array_view* in, const array_view& out) {
      const detail::pool_geometry g(p, in[0], out);
      const T *x = in[0].as<const T>(), *z = in[1].as<const T>();
      g.for_each_window(k, [&](const detail::pool_window& w) {
        T* y = out.as<T>() + w.result * g.channels;
        detail::for_each_largest(g, w, x, [&](std::int64_t c, std::int64_t source) { y[c] = z[source]; });
      });
    });
  }
};

template <>
struct cpu_kernel<ops::avg_pool> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const pool p = k.attrs<pool>();
    detail::with_channels_last<T>(k, p.layout, 0x101, [&](const array_view* in, const array_view& out) {
      const detail::pool_geometry g(p, in[0], out);
      const T* x = in[0].as<const T>();
      g.for_each_window(k, [&, n = g.channels](const detail::pool_window& w) {
        T* const y = out.as<T>() + w.result * n;
        std::fill_n(y, n, T(0));
        for (std::int64_t u = w.top; u < w.bottom; ++u)
          for (std::int64_t v = w.left; v < w.right; ++v) detail::add_run(y, x + (u * g.width + v) * n, n);
        detail::divide_run(y, static_cast<T>(w.pixels()), n);
      });
    });
  }
};

template <>
struct cpu_kernel<ops::avg_pool_gradient> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const pool p = k.attrs<pool>();
    detail::with_channels_last<T>(k, p.layout, 0x101, [&](const array_view* in, const array_view& out) {
      const detail::pool_geometry g(p, out, in[0]);
      T* dx = out.as<T>();
      g.for_each_window_by_image(k, dx, [&, n = g.channels](const detail::pool_window& w) {
        const T* const dy = in[0].as<const T>() + w.result * n;
        const T share = T(1) / static_cast<T>(w.pixels());
        for (std::int64_t u = w.top; u < w.bottom; ++u)
          for (std::int64_t v = w.left; v < w.right; ++v)
            detail::add_scaled_run(dx + (u * g.width + v) * n, dy, share, n);
      });
    });
  }
};

// Each sum from scratch over at most 2 radius + 1 channels: a running sum would lose digits along the axis. All
// channels add their neighbours of one distance at a time.
template <>
struct cpu_kernel<ops::neighbour_sum> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const auto a = k.attrs<ops::neighbour_sum::attrs>();
    const detail::around_axis x(k.in[0], a.axis);
    const std::int64_t n = x.extent * x.inner, radius = std::min(a.radius, x.extent - 1);
    parallel_for(k, x.outer, part_size(n * (2 * a.radius + 1)), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t o = first; o < last; ++o) {
        const T* const from = k.in[0].as<const T>() + o * n;
        T* const to = k.out[0].as<T>() + o * n;
        std::copy_n(from, n, to);
        for (std::int64_t r = 1; r <= radius; ++r) {
          const std::int64_t shift = r * x.inner;
          detail::add_run(to + shift, from, n - shift);
          detail::add_run(to, from + shift, n - shift);
        }
      }
    });
  }
};

using pool_kernels = type_list<ops::max_pool, ops::max_pool_gradient, ops::max_pool_select, ops::avg_pool,
                               ops::avg_pool_gradient, ops::neighbour_sum>;

}  // namespace flowgraph
