// Convolution of float images and its gradients on register tiles. The rows of an image that some rows of the result
// are made of are copied with their padding, and then the tiles read them as they lie: a row of the window is one run
// of elements.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <flowgraph/kernels/parallel.hpp>
#include "conv_geometry.hpp"
#include "scratch.hpp"
#include "tiled_product.hpp"

namespace flowgraph::detail {

struct packed_filter;  // the uses of scratch memory
struct padded_rows;
struct packed_results;
struct filter_sums;
struct pixel_places;

// How tiles see the images of one group.
struct tiled_geometry {
  static constexpr std::int64_t most_depth = 640;  // of a tile: its 16 columns of the filter stay close

  conv_geometry g;
  std::int64_t pitch;         // elements from pixel to pixel of a copy
  std::int64_t width;         // pixels of a row with its padding
  std::int64_t runs, length;  // a row of the window: pieces of the copy that are each one run of elements
  std::int64_t band;          // rows of the result that are made at a time

  explicit tiled_geometry(const conv_geometry& c) : g(c) {
    const bool apart = g.dilation[1] != 1 || collides(g.stride[1] * g.group_channels);
    pitch = g.group_channels + (collides(g.group_channels) ? 16 : 0);
    width = (g.result_width - 1) * g.stride[1] + (g.kernel_width - 1) * g.dilation[1] + 1;
    runs = apart ? g.kernel_width : 1;
    length = g.group_channels * (apart ? 1 : g.kernel_width);
    constexpr std::int64_t cached = 1 << 16;
    const std::int64_t row = width * pitch * g.stride[0] + g.result_width * g.group_results;
    const std::int64_t least = std::min<std::int64_t>(g.result_height, 4);
    const std::int64_t bands = (g.result_height * row + cached - 1) / cached;
    band = std::max(least, (g.result_height + bands - 1) / bands);
  }

  static bool suits(const conv_geometry& g) {
    return has_register_tiles() && g.rows() > 0 && g.height > 0 && g.width > 0 && g.group_results >= 8 &&
           g.group_channels * g.kernel_width >= 8 && !g.depthwise();
  }

  // Row u of the window over row r of the result is row r stride - before + u dilation of the image. It lies in the
  // image for the rows u of the window from first_met(r) to end_met(r), and the rows r from first_over(u) to
  // end_over(u), the ends excluded. All four get smaller as their argument grows.
  std::int64_t first_met(std::int64_t r) const { return quotient(g.before[0] - r * g.stride[0], g.dilation[0]); }
  std::int64_t end_met(std::int64_t r) const {
    return std::min(quotient(g.height + g.before[0] - r * g.stride[0], g.dilation[0]), g.kernel_height);
  }
  std::int64_t first_over(std::int64_t u) const { return quotient(g.before[0] - u * g.dilation[0], g.stride[0]); }
  std::int64_t end_over(std::int64_t u) const {
    return quotient(g.height + g.before[0] - u * g.dilation[0], g.stride[0]);
  }
  // Rounded up; 0 for less than nothing.
  static std::int64_t quotient(std::int64_t n, std::int64_t by) { return (std::max<std::int64_t>(n, 0) + by - 1) / by; }

  std::int64_t bands() const { return (g.result_height + band - 1) / band; }
  std::int64_t rows_in(std::int64_t at) const { return std::min(band, g.result_height - at * band); }
  std::int64_t row() const { return width * pitch; }
  std::int64_t run_at(std::int64_t run) const { return run * g.dilation[1] * pitch; }
  std::int64_t panels() const { return (g.group_results + tile_columns - 1) / tile_columns; }
  std::int64_t panel() const { return g.patch() * tile_columns; }

  // The rows of x that `count` rows of the result from `first` on are made of. x: the image's group.
  const float* copy_rows(const float* x, std::int64_t first, std::int64_t count) const {
    const std::int64_t lines = (count - 1) * g.stride[0] + (g.kernel_height - 1) * g.dilation[0] + 1;
    // A gradient's padding is negative where the convolution has more than its window reaches: pixels that nobody met.
    const std::int64_t before = std::clamp<std::int64_t>(g.before[1], 0, width);
    const std::int64_t skipped = std::max<std::int64_t>(-g.before[1], 0);
    const std::int64_t inside = std::clamp<std::int64_t>(g.width - skipped, 0, width - before);
    float* const copy = scratch<float, padded_rows>(lines * row());
    for (std::int64_t line = 0; line < lines; ++line) {
      float* const to = copy + line * row();
      const std::int64_t y = first * g.stride[0] - g.before[0] + line;
      if (y < 0 || y >= g.height) {
        std::fill_n(to, row(), 0.0f);
        continue;
      }
      const float* const from = x + (y * g.width + skipped) * g.channels;
      std::fill_n(to, before * pitch, 0.0f);
      std::fill_n(to + (before + inside) * pitch, (width - before - inside) * pitch, 0.0f);
      if (pitch == g.channels) {
        std::memcpy(to + before * pitch, from, static_cast<std::size_t>(inside * pitch) * sizeof(float));
      } else {
        for (std::int64_t i = 0; i < inside; ++i)
          std::memcpy(to + (before + i) * pitch, from + i * g.channels,
                      static_cast<std::size_t>(g.group_channels) * sizeof(float));
      }
    }
    return copy;
  }

  // f(first, taps, depth, offset) for pieces of the window: `taps` rows of it, or `depth` elements of a run. The first
  // element is number `first` of a patch, and lies `offset` behind the window's corner.
  template <class F>
  void for_each_piece(const F& f) const {
    const std::int64_t line = g.kernel_width * g.group_channels;
    if (runs == 1 && length <= most_depth) {
      const std::int64_t together = most_depth / length, blocks = (g.kernel_height + together - 1) / together;
      for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t u = b * g.kernel_height / blocks, end = (b + 1) * g.kernel_height / blocks;
        f(u * line, end - u, length, u * g.dilation[0] * row());
      }
      return;
    }
    const std::int64_t cuts = (length + most_depth - 1) / most_depth, depth = (length + cuts - 1) / cuts;
    for (std::int64_t u = 0; u < g.kernel_height; ++u)
      for (std::int64_t r = 0; r < runs; ++r)
        for (std::int64_t at = 0; at < length; at += depth)
          f(u * line + r * length + at, 1, std::min(depth, length - at), u * g.dilation[0] * row() + run_at(r) + at);
  }
};

// The filter in panels of 16 results: [groups, panels, patch, 16]. turned: w is the filter of the convolution that this
// one is the gradient of, whose geometry is g.reversed().
inline const float* pack_filter(const kernel_args& k, const tiled_geometry& t, const float* w, bool turned) {
  const conv_geometry& g = t.g;
  float* const packed = scratch<float, packed_filter>(g.groups * t.panels() * t.panel());
  const std::int64_t taps = g.kernel_height * g.kernel_width;
  const std::int64_t row = turned ? g.channels : g.results,
                     tap_size = turned ? g.group_results * row : g.group_channels * row;
  parallel_for(k, g.groups * t.panels(), part_size(t.panel()), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      const std::int64_t group = p / t.panels(), j = p % t.panels() * tile_columns;
      const std::int64_t columns = std::min(tile_columns, g.group_results - j);
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const float* const from = turned ? w + (taps - 1 - tap) * tap_size + j * row + group * g.group_channels
                                         : w + tap * tap_size + group * g.group_results + j;
        pack_columns(from, row, turned, g.group_channels, columns,
                     packed + p * t.panel() + tap * g.group_channels * tile_columns, 0);
      }
    }
  });
  return packed;
}

// y: the result, whose parts are finished as they are done if `finishes`.
inline void tiled_convolve(const kernel_args& k, const conv_geometry& geometry, const float* x, const float* w,
                           bool turned, float* y, bool finishes) {
  const tiled_geometry t(geometry);
  const conv_geometry& g = t.g;
  const float* const filter = pack_filter(k, t, w, turned);
  auto* const pixels = scratch<std::int64_t, pixel_places>(t.band * g.result_width);  // where a band's windows begin
  for (std::int64_t r = 0; r < t.band; ++r)
    for (std::int64_t q = 0; q < g.result_width; ++q)
      pixels[r * g.result_width + q] = r * g.stride[0] * t.row() + q * g.stride[1] * t.pitch;
  const std::int64_t image = g.height * g.width * g.channels, work = t.band * g.result_width * g.patch() * g.results;
  parallel_for(k, g.images * t.bands(), part_size(work), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      const std::int64_t i = part % t.bands(), rows = t.rows_in(i), n = part / t.bands();
      const std::int64_t top = i * t.band, pixel = (n * g.result_height + top) * g.result_width;
      const bool padded = t.first_met(top) > 0 || t.end_met(top + rows - 1) < g.kernel_height;
      for (std::int64_t group = 0; group < g.groups; ++group) {
        const float* const copy = t.copy_rows(x + n * image + group * g.group_channels, i * t.band, rows);
        float* const to = y + pixel * g.results + group * g.group_results;
        t.for_each_piece([&](std::int64_t start, std::int64_t taps, std::int64_t depth, std::int64_t offset) {
          tile_task tile{.taps = taps,
                         .depth = depth,
                         .a = copy + offset,
                         .tap_step = g.dilation[0] * t.row(),
                         .step = 1,
                         .panel = t.panel(),
                         .c_row = g.results,
                         .add = start > 0};
          const std::int64_t u = start / (g.kernel_width * g.group_channels);
          for (std::int64_t p = 0; p < t.panels(); p += tile_width() / tile_columns) {
            const float* const b = filter + (group * t.panels() + p) * t.panel() + start * tile_columns;
            tile.b = b;
            tile.columns = std::min(tile_width(), g.group_results - p * tile_columns);
            for_each_tile(rows * g.result_width, [&](std::int64_t q, std::int64_t count) {
              tile.rows = pixels + q;
              tile.c = to + q * g.results + p * tile_columns;
              if (padded) {  // rows of the window that are padding for all of the tile's pixels are left out
                const std::int64_t above = t.first_met(top + (q + count - 1) / g.result_width) - u;
                const std::int64_t skipped = std::clamp<std::int64_t>(above, 0, taps);
                tile.taps = std::clamp(t.end_met(top + q / g.result_width) - u, skipped, taps) - skipped;
                tile.a = copy + offset + skipped * tile.tap_step;
                tile.b = b + skipped * depth * tile_columns;
              }
              compute_tile(count, tile);
            });
          }
        });
      }
      if (finishes) k.finish(pixel * g.results, (pixel + rows * g.result_width) * g.results);
    }
  });
}

// dw[u, v, c, o] = sum over the result's pixels of x[c] under (u, v) times dy[o]. Some bands at a time add up sums of
// their own, which are added at last.
inline void tiled_filter_gradient(const kernel_args& k, const conv_geometry& geometry, const float* x, const float* dy,
                                  float* dw) {
  const tiled_geometry t(geometry);
  const conv_geometry& g = t.g;
  constexpr std::int64_t most_sums = 8, most_summed = 1 << 22;
  const std::int64_t size = g.patch() * g.results, bands = g.images * t.bands();
  const std::int64_t sums = std::min({most_sums, bands, std::max<std::int64_t>(2, most_summed / size)});
  float* const others = scratch<float, filter_sums>((sums - 1) * size);
  const std::int64_t image = g.height * g.width * g.channels;
  parallel_for(k, sums, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t s = first; s < last; ++s) {
      float* const sum = s == 0 ? dw : others + (s - 1) * size;
      const std::int64_t begin = s * bands / sums, end = (s + 1) * bands / sums;
      for (std::int64_t b = begin; b < end; ++b) {
        const std::int64_t i = b % t.bands(), rows = t.rows_in(i), n = b / t.bands();
        const std::int64_t pixels = rows * g.result_width, at = (n * g.result_height + i * t.band) * g.result_width;
        for (std::int64_t group = 0; group < g.groups; ++group) {
          const float* const copy = t.copy_rows(x + n * image + group * g.group_channels, i * t.band, rows);
          float* const panels = scratch<float, packed_results>(t.panels() * pixels * tile_columns);
          pack_columns(dy + at * g.results + group * g.group_results, g.results, false, pixels, g.group_results, panels,
                       pixels * tile_columns);
          const even_rows channels(1);
          tile_task tile{.depth = g.result_width,
                         .rows = channels.at,
                         .tap_step = g.stride[0] * t.row(),
                         .step = g.stride[1] * t.pitch,
                         .panel = pixels * tile_columns,
                         .c_row = g.results,
                         .add = b > begin};
          for (std::int64_t run = 0; run < g.kernel_height * t.runs; ++run) {
            const std::int64_t u = run / t.runs,
                               above = std::clamp<std::int64_t>(t.first_over(u) - i * t.band, 0, rows);
            const float* const from =
                copy + u * g.dilation[0] * t.row() + t.run_at(run % t.runs) + above * tile.tap_step;
            float* const to = sum + run * t.length * g.results + group * g.group_results;
            tile.taps = std::clamp(t.end_over(u) - i * t.band, above, rows) - above;
            for (std::int64_t p = 0; p < t.panels(); p += tile_width() / tile_columns) {
              tile.b = panels + (p * pixels + above * g.result_width) * tile_columns;
              tile.columns = std::min(tile_width(), g.group_results - p * tile_columns);
              for_each_tile(t.length, [&](std::int64_t q, std::int64_t count) {
                tile.a = from + q;
                tile.c = to + q * g.results + p * tile_columns;
                compute_tile(count, tile);
              });
            }
          }
        }
      }
    }
  });
  parallel_for(k, size, part_size(sums), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t s = 1; s < sums; ++s)
      for (std::int64_t i = first; i < last; ++i) dw[i] += others[(s - 1) * size + i];
  });
}

}  // namespace flowgraph::detail
