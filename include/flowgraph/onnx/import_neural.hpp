// How ONNX's products, reductions, convolutions, pooling and normalisations are read. Images stay [batch, channels,
// height, width]; filters become [height, width, in, out] while the file is read.
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
#include <flowgraph/ops/slice.hpp>
#include <flowgraph/ops/softmax.hpp>
#include "node_import.hpp"

namespace flowgraph::onnx {

inline ref product(ref a, ref b, std::int64_t turn_a = 0, std::int64_t turn_b = 0) {
  return emit<ops::matmul>(ops::matmul::attrs{turn_a, turn_b}, a, b);
}
// A vector is a row on the left, a column on the right, and its axis is gone afterwards.
inline void import_matmul(node_import& n) {
  ref a = n.in(0), b = n.in(1);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = node_import::reshape(a, {2, {1, a.shape()[0]}});
  if (column) b = node_import::reshape(b, {2, {b.shape()[0], 1}});
  const ref y = product(a, b);
  extents e = y.shape();
  if (column) --e.rank;
  if (row && !column) e.d[e.rank - 2] = e.d[e.rank - 1];
  if (row) --e.rank;
  n.give(node_import::reshape(y, e));
}
inline void import_gemm(node_import& n) {
  ref y = product(n.in(0), n.in(1), n.integer("transA", 0) != 0, n.integer("transB", 0) != 0);
  const double alpha = n.number("alpha", 1), beta = n.number("beta", 1);
  if (alpha != 1) y = y * alpha;
  if (n.has(2) && beta != 0) y = y + (beta == 1 ? n.in(2) : n.in(2) * beta);
  n.give(y);
}
inline void import_einsum(node_import& n) {
  const std::string equation = n.text("equation", "");
  if (equation.find('.') != std::string::npos) node_import::fail("an equation with \"...\" is not supported");
  const ops::einsum_equation e = ops::parse(ops::pack(equation));
  if (e.why != problem::none || e.terms != n.operands() || e.terms == 0)
    node_import::fail(std::string(sentence(problem::einsum_syntax)), problem::einsum_syntax);
  int in[ops::einsum_equation::max_terms]{};
  for (int k = 0; k < e.terms; ++k) in[k] = n.in(k).id;
  const auto words = detail::words_of(ops::einsum_attrs{ops::pack(e), 0});
  n.give({&n.graph, detail::append_inferred(n.graph, op_def_of<ops::einsum>, in, e.terms, words.w,
                                            detail::attr_words<ops::einsum_attrs>)});
}

// Axes are an attribute in older versions, an operand in newer ones.
inline ops::reduce_attrs reduction_of(node_import& n, int rank) {
  std::vector<std::int64_t> axes;
  if (n.has(1))
    axes = n.numbers(1, "the axes");
  else if (const attribute_proto* a = n.attribute("axes"))
    axes = a->ints;
  const bool nothing = axes.empty() && n.integer("noop_with_empty_axes", 0) != 0;
  return {nothing ? 0 : node_import::mask_of(axes, rank), n.integer("keepdims", 1) != 0};
}
template <class Op>
void import_reduction(node_import& n) {
  const ref x = n.in(0);
  n.give(emit<Op>(reduction_of(n, x.rank()), x));
}
// Of truth values, whether any or all of them are true.
template <class Op, class Truth>
void import_extremum(node_import& n) {
  if (n.in(0).type() == dtype::boolean) return import_reduction<Truth>(n);
  import_reduction<Op>(n);
}
inline ref mean_of(ref x, const ops::reduce_attrs& a) {
  if (!is_floating(x.type())) node_import::fail("expected a floating-point operand", problem::needs_floating);
  const extents e = x.shape();
  double count = 1;
  for (int i = 0; i < e.rank; ++i)
    if (ops::reduces(a, i)) count = e[i] < 0 ? -1 : count < 0 ? count : count * static_cast<double>(e[i]);
  const ref sum = emit<ops::reduce_sum>(a, x);
  return count >= 0 ? sum / count : sum / emit_as<ops::size>({}, x.type(), {a.axes}, x);
}
inline void import_reduce_mean(node_import& n) { n.give(mean_of(n.in(0), reduction_of(n, n.in(0).rank()))); }
inline void import_reduce_l1(node_import& n) {
  n.give(emit<ops::reduce_sum>(reduction_of(n, n.in(0).rank()), emit<ops::abs>(n.in(0))));
}
inline void import_reduce_sum_square(node_import& n) {
  n.give(emit<ops::reduce_sum>(reduction_of(n, n.in(0).rank()), emit<ops::square>(n.in(0))));
}
inline void import_reduce_log_sum(node_import& n) {
  n.give(emit<ops::log>(emit<ops::reduce_sum>(reduction_of(n, n.in(0).rank()), n.in(0))));
}

template <class Op>
void import_along_axis(node_import& n) {
  const ref x = n.floating(0);
  n.give(emit<Op>({node_import::axis_in(n.integer("axis", -1), x.rank())}, x));
}

// Images of one axis become images of a single row.
inline ref as_image(ref x) {
  const extents e = x.shape();
  if (e.rank != 3 && e.rank != 4) node_import::fail("images of one or two axes are supported", problem::conv_rank);
  return e.rank == 4 ? x : node_import::reshape(x, {4, {e[0], e[1], 1, e[2]}});
}
inline ref as_it_was(ref y, int rank) {
  const extents e = y.shape();
  return rank == 4 ? y : node_import::reshape(y, {3, {e[0], e[1], e[3]}});
}

// How a window slides over two axes; of one axis, the second of the two.
struct sliding {
  std::int64_t window[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  window_padding padding{};
};
// window: of each axis that the operand has, behind batch and channels.
inline sliding sliding_of(node_import& n, const std::vector<std::int64_t>& window, const extents& image) {
  const std::size_t axes = window.size(), first = 2 - axes;
  const std::vector<std::int64_t> stride = n.integers("strides", axes, 1), dilation = n.integers("dilations", axes, 1);
  std::vector<std::int64_t> pads = n.integers("pads", 2 * axes, 0);
  const std::string automatic = n.text("auto_pad", "NOTSET");
  sliding s;
  std::int64_t before[2] = {0, 0}, after[2] = {0, 0};
  for (std::size_t i = 0; i < axes; ++i) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (window[i] < 1 || stride[i] < 1 || dilation[i] < 1 || window[i] > most || stride[i] > most ||
        dilation[i] > most || pads[i] > most || pads[i + axes] > most)
      node_import::fail("a window, stride, dilation or padding is out of range", problem::window_positive);
    s.window[first + i] = window[i];
    s.stride[first + i] = stride[i];
    s.dilation[first + i] = dilation[i];
    before[first + i] = pads[i];
    after[first + i] = pads[i + axes];
  }
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    const bool upper = automatic == "SAME_UPPER";
    for (int i = static_cast<int>(first); i < 2; ++i) {
      const extent size = image[2 + i];
      const std::int64_t span = (s.window[i] - 1) * s.dilation[i] + 1;
      // A window that moves by 1 needs the same padding whatever the image's extent is.
      const bool told = size >= 0 || s.stride[i] == 1;
      if (!told && !upper) node_import::fail("SAME_LOWER needs images whose extents are numbers");
      if (!told) s.padding = same;
      const std::int64_t out = (size + s.stride[i] - 1) / s.stride[i];
      const std::int64_t total =
          s.stride[i] == 1 ? span - 1 : std::max<std::int64_t>(0, (out - 1) * s.stride[i] + span - size);
      (upper ? before : after)[i] = total / 2;
      (upper ? after : before)[i] = total - total / 2;
    }
  } else if (automatic == "VALID") {
    before[0] = before[1] = after[0] = after[1] = 0;
  } else if (automatic != "NOTSET" && !automatic.empty()) {
    node_import::fail("auto_pad \"" + automatic + "\"");
  }
  if (s.padding.mode == window_padding::none) s.padding = padded(before[0], after[0], before[1], after[1]);
  return s;
}
inline conv conv_of(node_import& n, const sliding& s) {
  conv c{.padding = s.padding, .groups = n.integer("group", 1), .layout = nchw};
  for (int i = 0; i < 2; ++i) c.stride[i] = s.stride[i], c.dilation[i] = s.dilation[i];
  if (c.groups < 1 || c.groups > most_elements)
    node_import::fail("a group of " + std::to_string(c.groups), problem::conv_groups);
  return c;
}
// [out, in, rows, columns] as [rows, columns, in, out], for images of as many axes.
inline ref filters_of(node_import& n, std::vector<std::int64_t>& window) {
  const extents e = n.in_shape(1);
  if (e.rank != 3 && e.rank != 4) node_import::fail("filters of one or two axes are supported", problem::conv_rank);
  for (int i = 2; i < e.rank; ++i) {
    if (e[i] < 1) node_import::fail("a filter's extents must be numbers", problem::needs_number);
    window.push_back(e[i]);
  }
  if (e.rank != n.in(0).rank()) node_import::fail("image and filters differ in rank", problem::conv_rank);
  if (e.rank == 4) return n.arranged(1, {2, 3, 1, 0});
  return node_import::reshape(n.arranged(1, {2, 1, 0}), {4, {1, e[2], e[1], e[0]}});
}
inline ref with_bias(node_import& n, ref y) {
  if (!n.has(2)) return y;
  const ref b = n.in(2);
  if (b.rank() != 1) node_import::fail("the bias must have one element for each channel", problem::bias_extent);
  return y + node_import::reshape(b, {3, {b.shape()[0], 1, 1}});
}
inline void import_conv(node_import& n) {
  const ref x = as_image(n.floating(0));
  const int rank = n.in(0).rank();
  std::vector<std::int64_t> window;
  const ref w = filters_of(n, window);
  const ref y = emit<ops::conv2d>(conv_of(n, sliding_of(n, window, x.shape())), x, w);
  n.give(as_it_was(with_bias(n, y), rank));
}
inline void import_conv_transpose(node_import& n) {
  const ref x = as_image(n.floating(0));
  const int rank = n.in(0).rank();
  std::vector<std::int64_t> window;
  const ref w = filters_of(n, window);
  if (n.text("auto_pad", "NOTSET") != "NOTSET" || n.attribute("output_shape") != nullptr)
    node_import::fail("the padding of a ConvTranspose must be stated");
  const std::vector<std::int64_t> more = n.integers("output_padding", window.size(), 0);
  sliding s = sliding_of(n, window, x.shape());
  const std::int64_t pads[2] = {s.padding.top + s.padding.bottom, s.padding.left + s.padding.right};
  extents shape = x.shape();
  symbols& sum = n.graph.symbols;
  for (int i = static_cast<int>(2 - window.size()); i < 2; ++i) {
    const std::int64_t extra = more[static_cast<std::size_t>(i) - (2 - window.size())];
    const std::int64_t added = (s.window[i] - 1) * s.dilation[i] + 1 + extra - pads[i] - s.stride[i];
    const extent wide = sum.mul(shape[2 + i], s.stride[i]);
    if (wide >= 0 && wide + added < 1) node_import::fail("nothing is left of the image", problem::conv_window);
    shape[2 + i] = added >= 0 ? sum.add(wide, added) : sum.sub(wide, -added);
    if (extra >= s.stride[i]) node_import::fail("output_padding must be smaller than the stride");
  }
  const conv c = conv_of(n, s);
  shape[1] = sum.mul(w.shape()[2], c.groups);
  n.give(as_it_was(with_bias(n, emit_as<ops::conv2d_input_gradient>(shape, x.type(), c, x, w)), rank));
}

// With ceil_mode a last window may begin within the image and end beyond its padding: more padding behind, this much.
struct padding_behind {
  std::int64_t rows = 0, columns = 0;
};
inline padding_behind pad_for_ceil(node_import& n, const sliding& s, const extents& image, int axes) {
  padding_behind more;
  if (n.integer("ceil_mode", 0) == 0 || n.text("auto_pad", "NOTSET").starts_with("SAME")) return more;
  const std::int64_t after[2] = {s.padding.bottom, s.padding.right}, before[2] = {s.padding.top, s.padding.left};
  for (int i = 2 - axes; i < 2; ++i) {
    const extent size = image[2 + i];
    if (size < 0) node_import::fail("ceil_mode needs images whose extents are numbers");
    const std::int64_t room = size + before[i] + after[i] - s.window[i];
    if (room < 0 || room % s.stride[i] == 0) continue;
    const std::int64_t missing = s.stride[i] - room % s.stride[i];
    if (room + missing < size + before[i])  // no window begins in the padding behind
      (i == 0 ? more.rows : more.columns) = missing;
  }
  return more;
}
inline pool pool_of(const sliding& s) {
  pool p{.padding = s.padding, .layout = nchw};
  for (int i = 0; i < 2; ++i) p.window[i] = s.window[i], p.stride[i] = s.stride[i];
  return p;
}
inline sliding pooling(node_import& n, const extents& image, int rank) {
  const attribute_proto* a = n.attribute("kernel_shape");
  if (a == nullptr || static_cast<int>(a->ints.size()) != rank - 2)
    node_import::fail("kernel_shape must name every axis of the image");
  for (const std::int64_t d : n.integers("dilations", a->ints.size(), 1))
    if (d != 1) node_import::fail("dilated pooling is not supported");
  return sliding_of(n, n.integers("kernel_shape", a->ints.size(), 1), image);
}
inline void pad_behind(sliding& s, const padding_behind& more) {
  s.padding.bottom += more.rows;
  s.padding.right += more.columns;
}
inline void import_max_pool(node_import& n) {
  n.refuse_result(1, "the positions");
  const ref x = as_image(n.floating(0));
  const int rank = n.in(0).rank();
  sliding s = pooling(n, x.shape(), rank);
  pad_behind(s, pad_for_ceil(n, s, x.shape(), rank - 2));
  n.give(as_it_was(emit<ops::max_pool>(pool_of(s), x), rank));
}
inline void import_average_pool(node_import& n) {
  ref x = as_image(n.floating(0));
  const int rank = n.in(0).rank();
  sliding s = pooling(n, x.shape(), rank);
  const padding_behind more = pad_for_ceil(n, s, x.shape(), rank - 2);
  const window_padding p = s.padding;
  if (n.integer("count_include_pad", 0) != 0) {
    if (p.mode == window_padding::automatic)
      node_import::fail("padding that counts needs images whose extents are numbers");
    if (p.top + p.bottom + p.left + p.right > 0) {
      extents shape = x.shape();
      shape[2] = n.graph.symbols.add(shape[2], p.top + p.bottom);
      shape[3] = n.graph.symbols.add(shape[3], p.left + p.right);
      x = emit_as<ops::pad>(shape, x.type(), {{0, 0, p.top, p.left}, 0}, x);
    }
    s.padding = padded(0, 0, 0, 0);
  }
  pad_behind(s, more);
  n.give(as_it_was(emit<ops::avg_pool>(pool_of(s), x), rank));
}
// Over all axes but batch and channels.
inline ops::reduce_attrs over_image(ref x) {
  if (x.rank() < 3) node_import::fail("an image has three axes or more", problem::operand_rank);
  return {((std::int64_t{1} << x.rank()) - 1) & ~std::int64_t{3}, 1};
}
inline void import_global_average_pool(node_import& n) { n.give(mean_of(n.in(0), over_image(n.in(0)))); }
inline void import_global_max_pool(node_import& n) { n.give(emit<ops::reduce_max>(over_image(n.in(0)), n.in(0))); }

// A vector with an element for each channel, next to x.
inline ref along_channels(ref v, ref x) {
  if (v.rank() != 1 || x.rank() < 2) node_import::fail("one element for each channel is needed", problem::norm_extents);
  extents e{1, {v.shape()[0]}};
  for (int i = 2; i < x.rank(); ++i) e.push(1);
  return node_import::reshape(v, e);
}
inline void import_batch_normalization(node_import& n) {
  if (n.integer("training_mode", 0) != 0) node_import::fail("training_mode is not supported");
  const ref x = n.floating(0);
  const ref mean = n.arranged(3, {}, false), variance = n.arranged(4, {}, false);
  const ref factor = n.in(1) * emit<ops::rsqrt>(variance + n.number("epsilon", 1e-5));
  n.give((x - along_channels(mean, x)) * along_channels(factor, x) + along_channels(n.in(2), x));
}
// (x - mean) / sqrt(variance + epsilon) over these axes.
inline ref standardised(node_import& n, ref x, std::int64_t axes, ref* mean = nullptr, ref* inverse = nullptr) {
  const ops::reduce_attrs over{axes, 1};
  const ref middle = mean_of(x, over), centred = x - middle;
  const ref scale = emit<ops::rsqrt>(mean_of(emit<ops::square>(centred), over) + n.number("epsilon", 1e-5));
  if (mean != nullptr) *mean = middle;
  if (inverse != nullptr) *inverse = scale;
  return centred * scale;
}
inline void import_instance_normalization(node_import& n) {
  const ref x = n.floating(0);
  n.give(standardised(n, x, over_image(x).axes) * along_channels(n.in(1), x) + along_channels(n.in(2), x));
}
inline void import_layer_normalization(node_import& n) {
  const ref x = n.floating(0);
  const int first = node_import::axis_in(n.integer("axis", -1), x.rank());
  const std::int64_t axes = ((std::int64_t{1} << x.rank()) - 1) & ~((std::int64_t{1} << first) - 1);
  ref mean, inverse;
  ref y = standardised(n, x, axes, &mean, &inverse) * n.in(1);
  if (n.has(2)) y = y + n.in(2);
  n.give(0, y);
  n.give(1, mean);
  n.give(2, inverse);
}
// Channels in groups that are normalised together.
inline void import_group_normalization(node_import& n) {
  const ref x = n.floating(0);
  const extents e = x.shape();
  const std::int64_t groups = n.integer("num_groups", 0);
  if (e.rank < 3 || e[1] < 0 || groups < 1 || e[1] % groups != 0)
    node_import::fail("num_groups must divide the channels");
  if (n.opset < 21) node_import::fail("GroupNormalization before opset 21 is not supported");
  extents inner{1, {e[1] / groups}};
  for (int i = 2; i < e.rank; ++i) inner.push(e[i]);
  const ref rows = node_import::reshape(x, {3, {e[0], groups, n.graph.symbols.product(inner)}});
  const ref y = node_import::reshape(standardised(n, rows, 4), e);
  n.give(y * along_channels(n.in(1), x) + along_channels(n.in(2), x));
}
// y = x / (bias + alpha / size sum)^beta
inline void import_lrn(node_import& n) {
  const ref x = n.floating(0);
  const std::int64_t size = n.integer("size", 1);
  if (x.rank() < 2 || size < 1 || size % 2 == 0 || size > most_elements)
    node_import::fail("an odd size of at least 1 is supported");
  const ref near = emit<ops::neighbour_sum>({size / 2, 1}, emit<ops::square>(x));
  const ref base = near * (n.number("alpha", 1e-4) / static_cast<double>(size)) + n.number("bias", 1);
  n.give(x / emit<ops::pow>(base, n.scalar(x, n.number("beta", 0.75))));
}

inline constexpr import_rule neural_import_rules[] = {
    {"MatMul", import_matmul},
    {"Gemm", import_gemm},
    {"Einsum", import_einsum},
    {"ReduceSum", import_reduction<ops::reduce_sum>},
    {"ReduceMax", import_extremum<ops::reduce_max, ops::reduce_any>},
    {"ReduceMin", import_extremum<ops::reduce_min, ops::reduce_all>},
    {"ReduceProd", import_reduction<ops::reduce_prod>},
    {"ReduceLogSumExp", import_reduction<ops::logsumexp>},
    {"ReduceL2", import_reduction<ops::norm>},
    {"ReduceL1", import_reduce_l1},
    {"ReduceMean", import_reduce_mean},
    {"ReduceSumSquare", import_reduce_sum_square},
    {"ReduceLogSum", import_reduce_log_sum},
    {"Softmax", import_along_axis<ops::softmax>},
    {"LogSoftmax", import_along_axis<ops::log_softmax>},
    {"Conv", import_conv},
    {"ConvTranspose", import_conv_transpose},
    {"MaxPool", import_max_pool},
    {"AveragePool", import_average_pool},
    {"GlobalAveragePool", import_global_average_pool},
    {"GlobalMaxPool", import_global_max_pool},
    {"BatchNormalization", import_batch_normalization},
    {"InstanceNormalization", import_instance_normalization},
    {"LayerNormalization", import_layer_normalization},
    {"GroupNormalization", import_group_normalization},
    {"LRN", import_lrn},
};

}  // namespace flowgraph::onnx
