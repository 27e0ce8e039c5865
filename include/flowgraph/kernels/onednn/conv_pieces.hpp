// How a convolution and its gradients are cut: into some of the images, or some rows of one. A piece is a convolution
// itself, of the rows that it reads with the padding that is left for it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <flowgraph/ops/conv2d.hpp>
#include <flowgraph/plan/kernel_args.hpp>
#include "describe.hpp"

namespace flowgraph::detail::onednn {

// Extents of x [images, height, width, channels], w [window, channels / groups, results] and y.
struct conv_shape {
  std::int64_t images, channels, results, groups;
  std::int64_t in[2], out[2];  // rows and columns of x and y
  std::int64_t window[2], stride[2], dilation[2], before[2];

  conv_shape(const conv& c, const array_view& x, const array_view& w, const array_view& y)
      : images(x.dim(0)),
        channels(x.dim(3)),
        results(w.dim(3)),
        groups(c.groups) {
    for (int axis = 0; axis < 2; ++axis) {
      in[axis] = x.dim(axis + 1);
      out[axis] = y.dim(axis + 1);
      window[axis] = w.dim(axis);
      stride[axis] = c.stride[axis];
      dilation[axis] = c.dilation[axis];
      before[axis] = ops::axis_of(c, w.dim(axis), axis).padding_before(in[axis], out[axis]);
    }
  }

  std::int64_t span(int axis) const { return (window[axis] - 1) * dilation[axis] + 1; }
  std::int64_t x_row() const { return in[1] * channels; }  // elements
  std::int64_t y_row() const { return out[1] * results; }
  std::int64_t filter() const { return window[0] * window[1] * channels / groups * results; }
  // Of one image.
  std::int64_t flops() const { return 2 * filter() * out[0] * out[1]; }
  std::int64_t elements() const { return in[0] * x_row() + out[0] * y_row(); }
};

struct rows {
  std::int64_t first, count;
};

struct conv_piece {
  std::int64_t image, images;
  rows x, y;
  std::int64_t top, bottom;  // padding
};

// The piece that computes rows y of one image, and the rows of x it reads.
inline conv_piece piece_of_y(const conv_shape& s, std::int64_t image, std::int64_t images, rows y) {
  const std::int64_t begin = y.first * s.stride[0] - s.before[0];
  const std::int64_t end = begin + (y.count - 1) * s.stride[0] + s.span(0);
  const bool whole = y.count == s.out[0];
  const std::int64_t first = whole ? 0 : std::max<std::int64_t>(begin, 0),
                     last = whole ? s.in[0] : std::min(end, s.in[0]);
  return {image, images, {first, last - first}, y, first - begin, std::max<std::int64_t>(end - last, 0)};
}

// The piece that computes rows x, and the rows of y whose windows meet them.
inline conv_piece piece_of_x(const conv_shape& s, std::int64_t image, rows x) {
  const std::int64_t reach = x.first + s.before[0] - s.span(0) + 1;  // windows that begin earlier end before x
  const std::int64_t first = reach <= 0 ? 0 : (reach + s.stride[0] - 1) / s.stride[0];
  const std::int64_t last = std::min((x.first + x.count - 1 + s.before[0]) / s.stride[0] + 1, s.out[0]);
  const std::int64_t begin = first * s.stride[0] - s.before[0];
  const std::int64_t end = begin + (last - first - 1) * s.stride[0] + s.span(0);
  return {image, 1, x, {first, last - first}, x.first - begin, std::max<std::int64_t>(end - x.first - x.count, 0)};
}

// Pieces depend on extents alone. They are large enough for oneDNN's loops, small enough that a packed one stays in the
// second-level cache, and there are several where there is enough work. For the gradient of the filter a piece has
// pixels enough to outweigh adding up its filter.
inline std::vector<conv_piece> cut(const conv_shape& s, direction d) {
  constexpr std::int64_t least_flops = 1 << 24, cached = 192 * 1024, wanted = 8, filter_pixels = 1800;
  const std::int64_t pixels = s.out[0] * s.out[1];
  std::int64_t together = std::max<std::int64_t>(1, least_flops / s.flops());
  std::int64_t bands = std::max(s.elements() / cached, (wanted + s.images - 1) / s.images);
  bands = std::min({bands, s.flops() / least_flops, s.out[0] / 4});
  if (d == direction::filter) {
    together = std::max(together, std::min((filter_pixels + pixels - 1) / pixels, (s.images + 1) / 2));
    bands = std::min(bands, pixels / filter_pixels);
  }
  std::vector<conv_piece> pieces;
  if (together > 1 || bands <= 1) {
    for (std::int64_t i = 0; i < s.images; i += together)
      pieces.push_back(piece_of_y(s, i, std::min(together, s.images - i), {0, s.out[0]}));
    return pieces;
  }
  for (std::int64_t i = 0; i < s.images; ++i)
    for (std::int64_t b = 0; b < bands; ++b) {
      const std::int64_t first = b * s.out[0] / bands, last = (b + 1) * s.out[0] / bands;
      if (d != direction::input) {
        pieces.push_back(piece_of_y(s, i, 1, {first, last - first}));
      } else {  // where a window begins, so that no padding is negative
        const auto begin = [&](std::int64_t y, bool edge) {
          return edge ? y == 0 ? 0 : s.in[0] : y * s.stride[0] - s.before[0];
        };
        const std::int64_t from = begin(first, b == 0), to = begin(last, b + 1 == bands);
        pieces.push_back(piece_of_x(s, i, {from, to - from}));
      }
    }
  const bool sound = std::all_of(pieces.begin(), pieces.end(), [](const conv_piece& p) {
    return p.x.first >= 0 && p.x.count > 0 && p.y.count > 0 && p.top >= 0;
  });
  if (sound) return pieces;
  // Windows that lie in the padding alone: rare enough to go image by image.
  pieces.clear();
  for (std::int64_t i = 0; i < s.images; ++i) pieces.push_back(piece_of_y(s, i, 1, {0, s.out[0]}));
  return pieces;
}

}  // namespace flowgraph::detail::onednn
