// Convolutions with one input channel for each group: no product of matrices to speak of, the taps are visited
// directly, all channels of a pixel at a time.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/kernels/parallel.hpp>
#include "conv_geometry.hpp"

namespace flowgraph::detail {

// c += a b, the usual case of one result for each channel.
template <class T>
void multiply_add(T* c, const T* a, const T* b, std::int64_t n) {
  compute_run(
      c, n, [](const lanes<T>& x, const lanes<T>& y, const lanes<T>& z) { return multiply_add(y, z, x); }, c, a, b);
}

template <class T>
void depthwise_convolve(const kernel_args& k, const conv_geometry& g, const T* x, const T* w, T* y) {
  const std::int64_t work = g.kernel_height * g.kernel_width * g.results;
  parallel_for(k, g.rows(), part_size(work), [&](std::int64_t first, std::int64_t last) {
    std::fill(y + first * g.results, y + last * g.results, T(0));
    for (std::int64_t row = first; row < last; ++row)
      g.for_each_tap(row, [&, to = y + row * g.results](std::int64_t tap, std::int64_t pixel) {
        const T *from = x + pixel * g.channels, *filter = w + tap * g.results;
        if (g.group_results == 1) return multiply_add(to, from, filter, g.channels);
        for (std::int64_t c = 0, o = 0; c < g.channels; ++c)
          for (const std::int64_t end = o + g.group_results; o < end; ++o) to[o] += from[c] * filter[o];
      });
  });
}

// Windows that overlap add to the same pixels: each image is one thread's.
template <class T>
void depthwise_input_gradient(const kernel_args& k, const conv_geometry& g, const T* y, const T* w, T* x) {
  const std::int64_t size = g.height * g.width * g.channels;
  const std::int64_t work = g.pixels() * g.kernel_height * g.kernel_width * g.results;
  parallel_for(k, g.images, part_size(work), [&](std::int64_t first, std::int64_t last) {
    std::fill(x + first * size, x + last * size, T(0));
    for (std::int64_t row = first * g.pixels(); row < last * g.pixels(); ++row)
      g.for_each_tap(row, [&, from = y + row * g.results](std::int64_t tap, std::int64_t pixel) {
        const T* filter = w + tap * g.results;
        T* to = x + pixel * g.channels;
        if (g.group_results == 1) return multiply_add(to, from, filter, g.channels);
        for (std::int64_t c = 0, o = 0; c < g.channels; ++c)
          for (const std::int64_t end = o + g.group_results; o < end; ++o) to[c] += from[o] * filter[o];
      });
  });
}

// All pixels add to each weight: channels are what threads have to themselves.
template <class T>
void depthwise_filter_gradient(const kernel_args& k, const conv_geometry& g, const T* x, const T* y, T* w) {
  constexpr std::int64_t unit = 16;  // channels, at least: whole cache lines
  const std::int64_t taps = g.kernel_height * g.kernel_width, work = g.rows() * taps * g.group_results;
  parallel_for(k, g.channels, part_size(work, unit), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t from = first * g.group_results, to = last * g.group_results;
    for (std::int64_t tap = 0; tap < taps; ++tap) std::fill(w + tap * g.results + from, w + tap * g.results + to, T(0));
    for (std::int64_t row = 0; row < g.rows(); ++row)
      g.for_each_tap(row, [&, dy = y + row * g.results](std::int64_t tap, std::int64_t pixel) {
        const T* image = x + pixel * g.channels;
        T* filter = w + tap * g.results;
        if (g.group_results == 1) return multiply_add(filter + first, image + first, dy + first, last - first);
        for (std::int64_t c = first, o = from; c < last; ++c)
          for (const std::int64_t end = o + g.group_results; o < end; ++o) filter[o] += image[c] * dy[o];
      });
  });
}

}  // namespace flowgraph::detail
