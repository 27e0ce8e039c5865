// How products, reductions, softmax, convolutions and pooling are written.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph/ops/conv2d.hpp>
#include <flowgraph/ops/einsum.hpp>
#include <flowgraph/ops/pool.hpp>
#include <flowgraph/ops/reduction.hpp>
#include <flowgraph/ops/softmax.hpp>
#include "node_export.hpp"

namespace flowgraph::onnx {

inline void export_matmul(node_export& n) {
  const auto [by_a, by_b] = n.attrs<ops::matmul::attrs>();
  const auto turned = [&](int k, std::int64_t turn) {
    axis_order perm;
    const int rank = n.in(k).rank;
    for (int i = 0; i < rank; ++i) perm.push_back(ops::swap_last_two(rank).axis(i));
    return turn ? n.writer.transposed(n.name(k), perm) : n.name(k);
  };
  n.give(n.emit("MatMul", {turned(0, by_a), turned(1, by_b)}));
}
inline void export_einsum(node_export& n) {
  const auto a = n.attrs<ops::einsum_attrs>();
  if (a.embed) throw not_exportable{"a diagonal that is set into zeros has no form in ONNX's Einsum"};
  // As it is parsed, so that the result is always stated.
  const ops::einsum_text t = ops::pack(ops::parse(a.text));
  std::string equation;
  for (int i = 0; i < ops::einsum_text::max_chars && t[i] != 0; ++i) equation += t[i];
  names all;
  for (int k = 0; k < n.operands(); ++k) all.push_back(n.name(k));
  n.give(n.emit("Einsum", all, {attribute("equation", equation)}));
}

// Over axes of a value that is held in another order: the axes that are left keep their order among themselves, and
// only where that is another one, too, is the value brought into its own first.
inline std::string reduced(node_export& n, const std::string& op, dtype through = dtype::none) {
  const auto a = n.attrs<ops::reduce_attrs>();
  if (a.axes == 0) return n.as_held();
  std::string x = n.as_held();
  std::vector<int> left;
  for (int i = 0; i < n.in(0).rank; ++i)
    if (!ops::reduces(a, i)) left.push_back(n.held_axis(i));
  const bool in_order = std::is_sorted(left.begin(), left.end());
  if (!in_order && !a.keep) {
    x = n.name(0);
    n.hold({});
  }
  std::vector<std::int64_t> axes;
  for (int i = 0; i < n.in(0).rank; ++i)
    if (ops::reduces(a, i)) axes.push_back(n.held_axis(i));
  if (!a.keep) n.hold({});
  if (through != dtype::none) x = n.cast(x, through);
  return n.emit(op, {x, n.writer.integers(axes)}, {attribute("keepdims", a.keep)});
}
template <fixed_string Op>
void export_reduction(node_export& n) {
  n.give(reduced(n, std::string(Op.view())));
}
template <fixed_string Op>
void export_truth_reduction(node_export& n) {
  n.give(n.cast(reduced(n, std::string(Op.view()), dtype::int32), dtype::boolean));
}

template <fixed_string Op>
void export_along_axis(node_export& n) {
  const std::string x = n.as_held();
  const int axis = n.held_axis(static_cast<int>(n.attrs<ops::axis_attrs>().axis));
  n.give(n.emit(std::string(Op.view()), {x}, {attribute("axis", axis)}));
}
inline void export_cross_entropy(node_export& n) {
  const std::string p = n.emit("LogSoftmax", {n.name(0)}, {attribute("axis", -1)});
  const std::string last = n.writer.integers({-1});
  const std::string labels = n.emit("Unsqueeze", {n.name(1), last});
  const std::string chosen = n.emit("GatherElements", {p, labels}, {attribute("axis", -1)});
  n.give(n.emit("Neg", {n.emit("Squeeze", {chosen, last})}));
}

// Images as ONNX has them, [batch, channels, height, width].
inline std::string image(node_export& n, int k, image_layout layout) {
  return layout == nchw ? n.name(k) : n.writer.held_as(n.operand(k), channels_first, 4);
}
inline std::string filters(node_export& n, int k) { return n.writer.transposed(n.name(k), {3, 2, 0, 1}); }

// How a window slides, as attributes. in, out: the extents of the axis that it slides over and of what comes out.
struct window_attributes {
  std::vector<std::int64_t> window, stride, dilation, before, after;
  bool automatic = false;  // paddings follow from extents that are known only when the model runs

  void add(symbols& s, const ops::window_axis& a, extent in, extent out) {
    window.push_back(a.window);
    stride.push_back(a.stride);
    dilation.push_back(a.dilation);
    std::int64_t front = a.before, back = a.after;
    if (a.mode == window_padding::automatic) {
      std::int64_t more = 0;
      const extent covered = s.mul(s.sub(out, 1), a.stride);  // up to the last window's first element
      if (s.known_difference(covered, in, more)) {
        const std::int64_t total = more + a.span() > 0 ? more + a.span() : 0;
        front = total / 2;
        back = total - front;
      } else {
        automatic = true;
      }
    }
    before.push_back(front);
    after.push_back(back);
  }
  attributes list() const {
    attributes a{attribute("kernel_shape", window), attribute("strides", stride)};
    std::vector<std::int64_t> pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    // As in TensorFlow, the odd one is behind.
    a.push_back(automatic ? attribute("auto_pad", "SAME_UPPER") : attribute("pads", pads));
    return a;
  }
};

inline void export_conv2d(node_export& n) {
  const auto c = n.attrs<conv>();
  const int height = ops::height_axis(c.layout);
  window_attributes w;
  for (int axis = 0; axis < 2; ++axis)
    w.add(n.writer.symbols(), ops::axis_of(c, n.in(1)[axis], axis), n.in(0)[height + axis], n.out()[height + axis]);
  attributes a = w.list();
  a.push_back(attribute("dilations", w.dilation));
  a.push_back(attribute("group", c.groups));
  const std::string x = image(n, 0, c.layout), f = filters(n, 1);
  if (c.layout == nhwc) n.hold(channels_first);
  n.give(n.emit("Conv", {x, f}, a));
}
// The convolution backwards: what it slid over is the result. What windows don't reach at the end is output_padding.
inline void export_conv2d_transpose(node_export& n) {
  const auto c = n.attrs<conv>();
  const int height = ops::height_axis(c.layout);
  symbols& s = n.writer.symbols();
  window_attributes w;
  std::vector<std::int64_t> unreached;
  for (int axis = 0; axis < 2; ++axis) {
    const ops::window_axis slide = ops::axis_of(c, n.in(1)[axis], axis);
    const extent large = n.out()[height + axis], small = n.in(0)[height + axis];
    w.add(s, slide, large, small);
    std::int64_t rest = 0;
    if (w.automatic || !s.known_difference(large, s.mul(s.sub(small, 1), slide.stride), rest))
      throw not_exportable{"the padding depends on an extent that is known only when the model runs"};
    const auto k = static_cast<std::size_t>(axis);
    unreached.push_back(rest - slide.span() + w.before[k] + w.after[k]);
  }
  attributes a = w.list();
  a.push_back(attribute("dilations", w.dilation));
  a.push_back(attribute("group", c.groups));
  a.push_back(attribute("output_padding", unreached));
  const std::string x = image(n, 0, c.layout), f = filters(n, 1);
  if (c.layout == nhwc) n.hold(channels_first);
  n.give(n.emit("ConvTranspose", {x, f}, a));
}

template <fixed_string Op>
void export_pool(node_export& n) {
  const auto p = n.attrs<pool>();
  const int height = ops::height_axis(p.layout);
  window_attributes w;
  for (int axis = 0; axis < 2; ++axis)
    w.add(n.writer.symbols(), ops::axis_of(p, axis), n.in(0)[height + axis], n.out()[height + axis]);
  const std::string x = image(n, 0, p.layout);
  if (p.layout == nhwc) n.hold(channels_first);
  n.give(n.emit(std::string(Op.view()), {x}, w.list()));
}

// A sum of the 2 radius + 1 shifted copies.
inline void export_neighbour_sum(node_export& n) {
  const auto a = n.attrs<ops::neighbour_sum::attrs>();
  const std::string x = n.as_held();
  const int axis = n.held_axis(static_cast<int>(a.axis));
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * n.in(0).rank));
  pads[static_cast<std::size_t>(axis)] = pads[static_cast<std::size_t>(axis + n.in(0).rank)] = a.radius;
  const std::string wide = n.emit("Pad", {x, n.writer.integers(pads), n.number(0)});
  names parts;
  for (std::int64_t shift = 0; shift <= 2 * a.radius; ++shift) {
    const extent end = n.writer.symbols().add(n.in(0)[static_cast<int>(a.axis)], shift);
    parts.push_back(
        n.emit("Slice", {wide, n.writer.integers({shift}), n.writer.number_of(end), n.writer.integers({axis})}));
  }
  n.give(n.emit("Sum", parts));
}

inline constexpr export_rule neural_rules[] = {
    {ops::matmul::id, export_matmul},
    {ops::einsum::id, export_einsum},
    {ops::reduce_sum::id, export_reduction<"ReduceSum">},
    {ops::reduce_max::id, export_reduction<"ReduceMax">},
    {ops::reduce_min::id, export_reduction<"ReduceMin">},
    {ops::reduce_prod::id, export_reduction<"ReduceProd">},
    {ops::logsumexp::id, export_reduction<"ReduceLogSumExp">},
    {ops::norm::id, export_reduction<"ReduceL2">},
    {ops::reduce_any::id, export_truth_reduction<"ReduceMax">},
    {ops::reduce_all::id, export_truth_reduction<"ReduceMin">},
    {ops::softmax::id, export_along_axis<"Softmax">},
    {ops::log_softmax::id, export_along_axis<"LogSoftmax">},
    {ops::sparse_softmax_cross_entropy::id, export_cross_entropy},
    {ops::conv2d::id, export_conv2d},
    {ops::conv2d_input_gradient::id, export_conv2d_transpose},
    {ops::max_pool::id, export_pool<"MaxPool">},
    {ops::avg_pool::id, export_pool<"AveragePool">},
    {ops::neighbour_sum::id, export_neighbour_sum},
};

}  // namespace flowgraph::onnx
