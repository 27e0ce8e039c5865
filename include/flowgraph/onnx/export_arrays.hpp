// How ops are written that make, move, choose and order elements.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/ops/concat.hpp>
#include <flowgraph/ops/dropout.hpp>
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/gather.hpp>
#include <flowgraph/ops/linalg.hpp>
#include <flowgraph/ops/range.hpp>
#include <flowgraph/ops/rows.hpp>
#include <flowgraph/ops/size.hpp>
#include <flowgraph/ops/slice.hpp>
#include <flowgraph/ops/sort.hpp>
#include <flowgraph/ops/tile.hpp>
#include "node_export.hpp"

namespace flowgraph::onnx {

inline void export_passed_on(node_export& n) { n.pass_on(); }

inline void give_filled(node_export& n, std::int64_t word) {
  if (n.out().rank == 0) return n.give(n.writer.scalar_with(n.out_type(), word));
  tensor_proto one{"", code_of(n.out_type()), {1}, graph_writer::element(n.out_type(), word)};
  n.give(n.emit("ConstantOfShape", {n.writer.numbers_of(n.out())}, {attribute("value", std::move(one))}));
}
inline void export_constant(node_export& n) { give_filled(n, n.attrs<ops::constant::attrs>().word); }
inline void export_unset(node_export& n) { give_filled(n, 0); }
inline void export_literal(node_export& n) {
  tensor_proto t{n.writer.unique(n.writer.label), code_of(n.out_type()), {}, ""};
  for (int i = 0; i < n.out().rank; ++i) t.dims.push_back(n.out()[i]);
  flowgraph::detail::with_type(n.out_type(), [&]<class T>(T) {
    for (const std::int64_t w : n.words()) {
      const T x = flowgraph::detail::from_word<T>(w);
      t.data.append(reinterpret_cast<const char*>(&x), sizeof x);
    }
  });
  n.give(n.writer.constant(std::move(t)));
}
// 0, 1, ..., count - 1 as int64: [count].
inline std::string count_up(node_export& n, extent count) {
  const std::string limit = n.emit("Squeeze", {n.writer.number_of(count)});
  return n.emit("Range", {n.writer.scalar(dtype::int64, 0), limit, n.writer.scalar(dtype::int64, 1)});
}
// start + i step, so that the last ones don't gather rounding errors.
inline void export_range(node_export& n) {
  const auto a = n.attrs<ops::range::attrs>();
  const std::string i = n.cast(count_up(n, n.out()[0]), n.out_type());
  const std::string scaled = n.emit("Mul", {i, n.writer.scalar_with(n.out_type(), a.step)});
  n.give(n.emit("Add", {scaled, n.writer.scalar_with(n.out_type(), a.start)}));
}
// ONNX's OneHot takes negative indices from the back.
inline void export_one_hot(node_export& n) {
  const auto a = n.attrs<ops::one_hot::attrs>();
  const std::string column = n.emit("Unsqueeze", {n.name(0), n.writer.integers({-1})});
  const std::string classes = n.cast(count_up(n, n.out().last(0)), n.type(0));
  n.give(n.emit("Where", {n.emit("Equal", {column, classes}), n.writer.scalar_with(n.out_type(), a.on),
                          n.writer.scalar_with(n.out_type(), a.off)}));
}
inline void export_shape(node_export& n) { n.give(n.emit("Shape", {n.name(0)})); }
inline void export_size(node_export& n) {
  const auto a = n.attrs<ops::size::attrs>();
  extents counted;
  for (int i = 0; i < n.in(0).rank; ++i)
    if ((a.axes >> i) & 1) counted.push(n.in(0)[i]);
  const std::string count = n.emit("Squeeze", {n.writer.number_of(n.writer.symbols().product(counted))});
  n.give(n.cast(count, n.out_type()));
}

inline void export_reshape(node_export& n) { n.give(n.writer.reshape(n.name(0), n.out())); }
inline void export_broadcast_to(node_export& n) { n.give(n.emit("Expand", {n.name(0), n.writer.numbers_of(n.out())})); }
inline void export_transpose(node_export& n) {
  const auto p = n.attrs<ops::permutation>();
  const axis_order held = n.operand(0).order;
  axis_order perm;
  bool moves = false;
  for (int i = 0; i < n.in(0).rank; ++i) {
    perm.push_back(held.empty() ? p.axis(i) : held[static_cast<std::size_t>(p.axis(i))]);
    moves = moves || perm.back() != i;
  }
  n.give(moves ? n.writer.transposed(n.operand(0).name, perm) : n.operand(0).name);
}

inline void export_concat(node_export& n) {
  bool alike = !n.operand(0).order.empty();
  for (int k = 1; k < n.operands(); ++k) alike = alike && n.operand(k).order == n.operand(0).order;
  if (alike) n.as_held();
  names parts;
  for (int k = 0; k < n.operands(); ++k) parts.push_back(alike ? n.operand(k).name : n.name(k));
  n.give(
      n.emit("Concat", parts, {attribute("axis", n.held_axis(static_cast<int>(n.attrs<ops::concat::attrs>().axis)))}));
}
inline void export_split(node_export& n) {
  const auto a = n.attrs<ops::split::attrs>();
  extents sizes;
  names outputs;
  for (int k = 0; k < a.parts; ++k) {
    sizes.push(n.operands() > 1 ? n.in(k + 1)[static_cast<int>(a.axis)] : a.size[k]);
    outputs.push_back(n.writer.unique(n.writer.label + "/Split"));
  }
  n.writer.emit_into(outputs, "Split", {n.name(0), n.writer.numbers_of(sizes)}, {attribute("axis", a.axis)});
  for (int k = 0; k < a.parts; ++k) n.give(k, outputs[static_cast<std::size_t>(k)]);
}

inline void export_slice(node_export& n) {
  const auto a = n.attrs<ops::box_attrs>();
  std::vector<std::int64_t> begins;
  extents ends;
  for (int i = 0; i < n.out().rank; ++i) {
    begins.push_back(a.begin[i]);
    ends.push(n.writer.symbols().add(n.out()[i], a.begin[i]));
  }
  if (begins.empty()) return n.pass_on();
  n.give(n.emit("Slice", {n.name(0), n.writer.integers(begins), n.writer.numbers_of(ends)}));
}
inline void export_strided_slice(node_export& n) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most;
  const auto a = n.attrs<ops::stride_attrs>();
  std::vector<std::int64_t> begins, ends, axes, strides;
  for (int i = 0; i < n.in(0).rank; ++i) {
    const bool forward = a.stride[i] > 0;
    begins.push_back(a.begin[i] != ops::axis_edge ? a.begin[i] : forward ? 0 : most);
    ends.push_back(a.end[i] != ops::axis_edge ? a.end[i] : forward ? most : least);
    axes.push_back(i);
    strides.push_back(a.stride[i]);
  }
  if (axes.empty()) return n.pass_on();
  graph_writer& w = n.writer;
  n.give(n.emit("Slice", {n.name(0), w.integers(begins), w.integers(ends), w.integers(axes), w.integers(strides)}));
}
inline void export_reverse(node_export& n) {
  const auto a = n.attrs<ops::reverse::attrs>();
  std::vector<std::int64_t> axes;
  for (int i = 0; i < n.in(0).rank; ++i)
    if ((a.axes >> i) & 1) axes.push_back(i);
  if (axes.empty()) return n.pass_on();
  const std::vector<std::int64_t> begins(axes.size(), -1), ends(axes.size(), -std::numeric_limits<std::int64_t>::max());
  graph_writer& w = n.writer;
  n.give(n.emit("Slice", {n.name(0), w.integers(begins), w.integers(ends), w.integers(axes), w.integers(begins)}));
}
inline void export_pad(node_export& n) {
  const auto a = n.attrs<ops::pad::attrs>();
  const int rank = n.in(0).rank;
  if (rank == 0) return n.pass_on();
  symbols& s = n.writer.symbols();
  extents pads;  // in front of every axis, then behind every axis
  for (int i = 0; i < rank; ++i) pads.push(a.begin[i]);
  extents behind;
  for (int i = 0; i < rank; ++i) {
    std::int64_t more = 0;
    const bool known = s.known_difference(n.out()[i], n.in(0)[i], more);
    behind.push(known ? more - a.begin[i] : s.sub(s.sub(n.out()[i], n.in(0)[i]), a.begin[i]));
  }
  const std::string both =
      n.emit("Concat", {n.writer.numbers_of(pads), n.writer.numbers_of(behind)}, {attribute("axis", 0)});
  n.give(n.emit("Pad", {n.name(0), both, n.writer.scalar_with(n.type(0), a.value)}));
}
inline void export_tile(node_export& n) {
  const auto a = n.attrs<ops::tile::attrs>();
  n.give(n.emit("Tile", {n.name(0), n.writer.integers({a.count, a.count + n.in(0).rank})}));
}

inline void export_gather(node_export& n) {
  n.give(n.emit("Gather", {n.name(0), n.name(1)}, {attribute("axis", n.attrs<ops::gather_attrs>().axis)}));
}
inline void export_embedding_lookup(node_export& n) {
  n.give(n.emit("Gather", {n.name(0), n.name(1)}, {attribute("axis", 0)}));
}
inline std::string wide_indices(node_export& n, int k) {
  return n.type(k) == dtype::int64 ? n.name(k) : n.cast(n.name(k), dtype::int64);
}
inline void export_gather_nd(node_export& n) { n.give(n.emit("GatherND", {n.name(0), wide_indices(n, 1)})); }
inline void export_scatter_nd(node_export& n) {
  tensor_proto zero{"", code_of(n.out_type()), {1}, graph_writer::element(n.out_type(), 0)};
  const std::string zeros =
      n.emit("ConstantOfShape", {n.writer.numbers_of(n.out())}, {attribute("value", std::move(zero))});
  n.give(n.emit("ScatterND", {zeros, wide_indices(n, 0), n.name(1)}, {attribute("reduction", "add")}));
}
template <fixed_string Reduction>
void export_rows(node_export& n) {
  const std::string rows = n.emit("Unsqueeze", {wide_indices(n, 1), n.writer.integers({-1})});
  n.give(n.emit("ScatterND", {n.name(0), rows, n.name(2)}, {attribute("reduction", Reduction.view())}));
}
inline void export_take_along_axis(node_export& n) {
  n.give(n.emit("GatherElements", {n.name(0), n.name(1)}, {attribute("axis", n.attrs<ops::gather_attrs>().axis)}));
}

// Values and positions: of equals the first comes first in both languages.
inline names sorted(node_export& n, const std::string& count, std::int64_t axis, bool largest) {
  const names outputs{n.writer.unique(n.writer.label + "/values"), n.writer.unique(n.writer.label + "/positions")};
  n.writer.emit_into(outputs, "TopK", {n.name(0), count}, {attribute("axis", axis), attribute("largest", largest)});
  return outputs;
}
inline void export_argsort(node_export& n) {
  const auto a = n.attrs<ops::argsort::attrs>();
  n.give(sorted(n, n.writer.number_of(n.in(0)[static_cast<int>(a.axis)]), a.axis, a.descending != 0)[1]);
}
inline void export_top_k(node_export& n) {
  const names outputs = sorted(n, n.writer.integers({n.attrs<ops::top_k::attrs>().k}), n.in(0).rank - 1, true);
  n.give(0, outputs[0]);
  n.give(1, outputs[1]);
}
template <class Op, fixed_string Name>
void export_position(node_export& n) {
  n.give(n.emit(std::string(Name.view()), {n.name(0)},
                {attribute("axis", n.attrs<typename Op::attrs>().axis), attribute("keepdims", 0)}));
}
inline void export_cumsum(node_export& n) {
  const auto a = n.attrs<ops::cumsum::attrs>();
  n.give(n.emit("CumSum", {n.name(0), n.writer.scalar(dtype::int64, static_cast<double>(a.axis))},
                {attribute("exclusive", a.exclusive), attribute("reverse", a.reverse)}));
}

inline void export_band_part(node_export& n) {
  const auto a = n.attrs<ops::band_part::attrs>();
  std::string x = n.name(0);
  const auto cut = [&](std::int64_t upper, std::int64_t k) {
    x = n.emit("Trilu", {x, n.writer.scalar(dtype::int64, static_cast<double>(k))}, {attribute("upper", upper)});
  };
  if (a.lower >= 0) cut(1, -a.lower);
  if (a.upper >= 0) cut(0, a.upper);
  n.give(x);
}
// True on the diagonal: [n, n].
inline std::string diagonal(node_export& n, extent size) {
  const std::string i = count_up(n, size);
  return n.emit("Equal", {n.emit("Unsqueeze", {i, n.writer.integers({1})}), i});
}
inline void export_diag(node_export& n) {
  const std::string column = n.emit("Unsqueeze", {n.name(0), n.writer.integers({-1})});
  n.give(n.emit("Where", {diagonal(n, n.in(0).last(0)), column, n.number(0)}));
}
inline void export_diag_part(node_export& n) {
  const std::string alone = n.emit("Where", {diagonal(n, n.in(0).last(0)), n.name(0), n.number(0)});
  n.give(n.emit("ReduceSum", {alone, n.writer.integers({-1})}, {attribute("keepdims", 0)}));
}

inline constexpr export_rule array_rules[] = {
    {ops::identity::id, export_passed_on},
    {ops::stop_gradient::id, export_passed_on},
    {ops::print::id, export_passed_on},
    {ops::check_numerics::id, export_passed_on},
    {ops::dropout::id, export_passed_on},  // of a graph that infers, nothing is left of it
    {ops::constant::id, export_constant},
    {ops::unset::id, export_unset},
    {ops::literal::id, export_literal},
    {ops::range::id, export_range},
    {ops::one_hot::id, export_one_hot},
    {ops::shape::id, export_shape},
    {ops::size::id, export_size},
    {ops::reshape::id, export_reshape},
    {ops::broadcast_to::id, export_broadcast_to},
    {ops::transpose::id, export_transpose},
    {ops::concat::id, export_concat},
    {ops::split::id, export_split},
    {ops::slice::id, export_slice},
    {ops::strided_slice::id, export_strided_slice},
    {ops::reverse::id, export_reverse},
    {ops::pad::id, export_pad},
    {ops::tile::id, export_tile},
    {ops::gather::id, export_gather},
    {ops::embedding_lookup::id, export_embedding_lookup},
    {ops::gather_nd::id, export_gather_nd},
    {ops::scatter_nd::id, export_scatter_nd},
    {ops::set_rows::id, export_rows<"none">},
    {ops::add_rows::id, export_rows<"add">},
    {ops::take_along_axis::id, export_take_along_axis},
    {ops::argsort::id, export_argsort},
    {ops::top_k::id, export_top_k},
    {ops::argmax::id, export_position<ops::argmax, "ArgMax">},
    {ops::argmin::id, export_position<ops::argmin, "ArgMin">},
    {ops::cumsum::id, export_cumsum},
    {ops::band_part::id, export_band_part},
    {ops::diag::id, export_diag},
    {ops::diag_part::id, export_diag_part},
    {ops::matrix_determinant::id, [](node_export& n) { n.give(n.emit("Det", {n.name(0)})); }},
};

}  // namespace flowgraph::onnx
