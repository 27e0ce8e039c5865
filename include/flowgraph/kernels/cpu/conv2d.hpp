// Convolution as a matrix product: the patches under the window, as rows of a matrix, times the filter. Only a few
// hundred rows are made at a time, so that they stay in the cache. With one input channel for each group
// (depthwise) there is no product to speak of: depthwise.hpp. Register tiles need no patches: tiled_conv.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/kernels/region.hpp>
#include "channels_last.hpp"
#include "conv_geometry.hpp"
#include "depthwise.hpp"
#include "matmul.hpp"
#include "scratch.hpp"
#include "tiled_conv.hpp"

namespace flowgraph::detail {

// The patches of some result pixels of a group: made, or as they lie in the image.
template <class T>
matrix_view<const T> patches_of(const conv_geometry& g, const T* x, std::int64_t group, std::int64_t first,
                                std::int64_t count, const patch_columns& columns) {
  if (g.pointwise()) return {x + first * g.channels + group * g.group_channels + columns.from, g.channels};
  T* const patches = scratch<T>(g.chunk(columns.count()) * columns.count());
  gather_patches(g, x, group, first, count, columns, patches);
  return {patches, columns.count()};
}

// A group's part of rows that have one element for each of the convolution's results.
template <class T>
matrix_view<const T> group_rows(const conv_geometry& g, const T* rows, std::int64_t group, std::int64_t first) {
  return {rows + first * g.results + group * g.group_results, g.results};
}

template <class T>
void convolve(const kernel_args& k, const conv_geometry& g, const T* x, const T* w, T* y) {
  const std::int64_t chunk = g.chunk(g.patch()), chunks = (g.rows() + chunk - 1) / chunk;
  const std::int64_t work = chunk * g.patch() * g.group_results;
  parallel_for(k, chunks * g.groups, part_size(work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t first = part / g.groups * chunk, group = part % g.groups;
      const std::int64_t count = std::min(chunk, g.rows() - first);
      multiply_matrices<T>(count, g.group_results, g.patch(), patches_of(g, x, group, first, count, {0, g.patch()}),
                           group_rows(g, w, group, 0), y + first * g.results + group * g.group_results, g.results,
                           product_into::set);
      if (y == k.out[0].data) k.finish(first, group * g.group_results, count, g.group_results, g.results);
    }
  });
}

// Whether tiled_conv.hpp computes it.
template <class T>
bool on_tiles(const conv_geometry& g) {
  return std::is_same_v<T, float> && tiled_geometry::suits(g);
}

struct turned_filter;  // the use of the scratch memory

// [u, v, c, (group, o)] -> [height - 1 - u, width - 1 - v, o, (group, c)]
template <class T>
const T* turn_filter(const conv_geometry& g, const T* w) {
  const std::int64_t taps = g.kernel_height * g.kernel_width, size = g.group_channels * g.results;
  T* const turned = scratch<T, turned_filter>(taps * size);
  for (std::int64_t tap = 0; tap < taps; ++tap)
    for (std::int64_t group = 0; group < g.groups; ++group) {
      T* const to = turned + (taps - 1 - tap) * size + group * g.group_channels;
      const matrix_view<const T> from = group_rows(g, w, group, tap * g.group_channels);
      for (std::int64_t o = 0; o < g.group_results; ++o)
        for (std::int64_t c = 0; c < g.group_channels; ++c) to[o * g.channels + c] = from.at[c * from.row + o];
    }
  return turned;
}

}  // namespace flowgraph::detail

namespace flowgraph {

template <>
struct cpu_kernel<ops::conv2d> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const conv c = k.attrs<conv>();
    bool finished = false;
    detail::with_channels_last<T>(k, c.layout, 0x101, [&](const array_view* in, const array_view& out) {
      const detail::conv_geometry g(c, in[0], in[1], out);
      if (g.depthwise()) {
        detail::depthwise_convolve(k, g, in[0].as<const T>(), in[1].as<const T>(), out.as<T>());
      } else {
        finished = out.data == k.out[0].data;
        if constexpr (std::is_same_v<T, float>)
          if (detail::on_tiles<T>(g))
            return detail::tiled_convolve(k, g, in[0].as<const T>(), in[1].as<const T>(), false, out.as<T>(), finished);
        detail::convolve(k, g, in[0].as<const T>(), in[1].as<const T>(), out.as<T>());
      }
    });
    if (k.region != nullptr && !finished) run_region(k);
  }
};

template <>
struct cpu_kernel<ops::conv2d_input_gradient> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const conv c = k.attrs<conv>();
    detail::with_channels_last<T>(k, c.layout, 0x101, [&](const array_view* in, const array_view& out) {
      const detail::conv_geometry g(c, out, in[1], in[0]);
      const T *y = in[0].as<const T>(), *w = in[1].as<const T>();
      if constexpr (std::is_same_v<T, float>)
        if (g.unit_stride() && detail::on_tiles<T>(g.reversed()) && !g.depthwise())
          return detail::tiled_convolve(k, g.reversed(), y, w, true, out.as<T>(), false);
      if (g.depthwise())
        detail::depthwise_input_gradient(k, g, y, w, out.as<T>());
      else if (g.unit_stride())
        detail::convolve(k, g.reversed(), y, detail::turn_filter(g, w), out.as<T>());
      else
        by_image(k, g, y, w, out.as<T>());
    });
  }

 private:
  // Windows that overlap add to the same pixels: each image is one thread's.
  template <class T>
  static void by_image(const kernel_args& k, const detail::conv_geometry& g, const T* y, const T* w, T* x) {
    const std::int64_t size = g.height * g.width * g.channels, chunk = g.chunk(g.patch());
    parallel_for(
        k, g.images, part_size(g.pixels() * g.patch() * g.results), [&](std::int64_t first, std::int64_t last) {
          std::fill(x + first * size, x + last * size, T(0));
          T* const patches = detail::scratch<T>(chunk * g.patch());
          for (std::int64_t row = first * g.pixels(); row < last * g.pixels(); row += chunk)
            for (std::int64_t group = 0; group < g.groups; ++group) {
              const std::int64_t count = std::min(chunk, last * g.pixels() - row);
              detail::multiply_matrices<T>(count, g.patch(), g.group_results, detail::group_rows(g, y, group, row),
                                           detail::group_rows(g, w, group, 0).turned(), patches, g.patch(),
                                           detail::product_into::set);
              detail::scatter_patches(g, patches, group, row, count, x);
            }
        });
  }
};

// Each part has columns of the patches, and so rows of the result, to itself.
template <>
struct cpu_kernel<ops::conv2d_filter_gradient> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const conv c = k.attrs<conv>();
    detail::with_channels_last<T>(k, c.layout, 0x003, [&](const array_view* in, const array_view& out) {
      const detail::conv_geometry g(c, in[0], out, in[1]);
      if constexpr (std::is_same_v<T, float>)
        if (detail::on_tiles<T>(g))
          return detail::tiled_filter_gradient(k, g, in[0].as<const T>(), in[1].as<const T>(), out.as<T>());
      if (g.depthwise())
        detail::depthwise_filter_gradient(k, g, in[0].as<const T>(), in[1].as<const T>(), out.as<T>());
      else
        by_columns(k, g, in[0].as<const T>(), in[1].as<const T>(), out.as<T>());
    });
  }

 private:
  template <class T>
  static void by_columns(const kernel_args& k, const detail::conv_geometry& g, const T* x, const T* y, T* w) {
    const std::int64_t work = g.rows() * g.patch() * g.group_results;
    constexpr std::int64_t least = 144;  // columns that make a product of some size
    const std::int64_t wanted = std::clamp<std::int64_t>(work >> 21, 1, 8);
    const std::int64_t width = std::min(g.patch(), std::max(least, ((g.patch() + wanted - 1) / wanted + 7) / 8 * 8));
    const std::int64_t blocks = width == 0 ? 0 : (g.patch() + width - 1) / width, chunk = g.chunk(width);
    parallel_for(k, blocks * g.groups, part_size(g.rows() * width * g.group_results),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t part = begin; part < end; ++part) {
                     const std::int64_t group = part % g.groups, from = part / g.groups * width;
                     const detail::patch_columns columns{from, std::min(from + width, g.patch())};
                     T* const dw = w + from * g.results + group * g.group_results;
                     for (std::int64_t row = 0; row < columns.count(); ++row)
                       std::fill_n(dw + row * g.results, g.group_results, T(0));
                     for (std::int64_t first = 0; first < g.rows(); first += chunk) {
                       const std::int64_t count = std::min(chunk, g.rows() - first);
                       detail::multiply_matrices<T>(columns.count(), g.group_results, count,
                                                    detail::patches_of(g, x, group, first, count, columns).turned(),
                                                    detail::group_rows(g, y, group, first), dw, g.results,
                                                    detail::product_into::add);
                     }
                   }
                 });
  }
};

using conv2d_kernels = type_list<ops::conv2d, ops::conv2d_input_gradient, ops::conv2d_filter_gradient>;

}  // namespace flowgraph
