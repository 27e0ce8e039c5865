// Windows that slide over images: what convolution and pooling have in common. A window's extents, strides and
// dilations are (vertical, horizontal).
#pragma once
#include <cstdint>

#include <flowgraph/graph/inference.hpp>

namespace flowgraph {

// valid: none. same: as much as makes the result's extent ceil(extent / stride), the odd one behind, as in
// TensorFlow.
struct window_padding {
  enum : std::int64_t { none, automatic, stated };
  std::int64_t mode = none;
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
};

inline constexpr window_padding valid{};
inline constexpr window_padding same{.mode = window_padding::automatic};
constexpr window_padding padded(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
  return {window_padding::stated, top, bottom, left, right};
}

// How an image's axes are ordered: [batch, height, width, channels], or [batch, channels, height, width].
enum image_layout : std::int64_t { nhwc, nchw };

// How a convolution slides: conv2d<fg::conv{.stride = {2, 2}, .padding = fg::same}>(x, w). Its attributes, as they
// stand in the graph.
struct conv {
  std::int64_t stride[2] = {1, 1};
  std::int64_t dilation[2] = {1, 1};
  window_padding padding{};
  std::int64_t groups = 1;
  image_layout layout = nhwc;  // of images; filters are [height, width, in, out] in both
};

// max_pool<fg::pool{.window = {2, 2}}>(x). A stride of 0 stands for the window.
struct pool {
  std::int64_t window[2] = {2, 2};
  std::int64_t stride[2] = {0, 0};
  window_padding padding{};
  image_layout layout = nhwc;
};

namespace ops {

// Where an image of rank 4 has its height (the width is next) and its channels.
constexpr int height_axis(image_layout layout) { return layout == nhwc ? 1 : 2; }
constexpr int channel_axis(image_layout layout) { return layout == nhwc ? 3 : 1; }

// One axis of a sliding window.
struct window_axis {
  std::int64_t window;
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t mode;
  std::int64_t before;
  std::int64_t after;

  constexpr std::int64_t span() const { return (window - 1) * dilation + 1; }
  // Padding in front of an axis whose extents are known.
  constexpr std::int64_t padding_before(std::int64_t in, std::int64_t out) const {
    if (mode != window_padding::automatic) return before;
    const std::int64_t total = (out - 1) * stride + span() - in;
    return total > 0 ? total / 2 : 0;
  }
};

constexpr window_axis make_window_axis(std::int64_t window, std::int64_t stride, std::int64_t dilation,
                                       const window_padding& p, int axis) {
  return {window, stride, dilation, p.mode, axis == 0 ? p.top : p.left, axis == 0 ? p.bottom : p.right};
}
constexpr window_axis axis_of(const conv& c, std::int64_t window, int axis) {
  return make_window_axis(window, c.stride[axis], c.dilation[axis], c.padding, axis);
}
constexpr window_axis axis_of(const pool& p, int axis) {
  return make_window_axis(p.window[axis], p.stride[axis] == 0 ? p.window[axis] : p.stride[axis], 1, p.padding, axis);
}

// floor((in + padding - span) / stride) + 1; with padding `same` ceil(in / stride). A named extent that keeps its
// size keeps its name.
FLOWGRAPH_CONSTEXPR extent slide(inference& f, extent in, const window_axis& a) {
  f.require(a.window >= 1 && a.stride >= 1 && a.dilation >= 1, problem::window_positive);
  f.require(a.before >= 0 && a.after >= 0, problem::parameter_range);
  if (f.failed()) return in;
  if (a.mode == window_padding::automatic) return f.symbols.floordiv(f.symbols.add(in, a.stride - 1), a.stride);
  const std::int64_t padding = a.before + a.after;
  f.require_room(in, 0, a.span() - padding, problem::conv_window);
  if (f.failed()) return in;
  const extent room = f.symbols.sub(f.symbols.add(in, padding), a.span());
  return f.symbols.floordiv(f.symbols.add(room, a.stride), a.stride);
}

}  // namespace ops
}  // namespace flowgraph
