// How ONNX ops are read that join, cut, choose and order elements. Those that compute shapes work on known numbers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/ops/gather.hpp>
#include <flowgraph/ops/linalg.hpp>
#include <flowgraph/ops/range.hpp>
#include <flowgraph/ops/slice.hpp>
#include <flowgraph/ops/sort.hpp>
#include <flowgraph/ops/tile.hpp>
#include "node_import.hpp"

namespace flowgraph::onnx {

inline void import_concat(node_import& n) {
  bool known = true;
  std::vector<known_number> all;
  for (int k = 0; k < n.operands() && known; ++k) {
    const auto* part = n.known(k);
    known = part != nullptr && n.known_rank(k) == 1;
    if (!known) break;
    n.table.budget.spend(part->size() * node_import::bytes_of_number);
    all.insert(all.end(), part->begin(), part->end());
  }
  if (known && n.operands() > 0) return n.give_known(std::move(all), 1, n.known_type(0));
  std::vector<int> parts;
  const int rank = n.in(0).rank();
  for (int k = 0; k < n.operands(); ++k) {
    if (n.in(k).rank() != rank) node_import::fail("the operands have different ranks", problem::concat_extents);
    parts.push_back(n.in(k).id);
  }
  n.give(value_table::joined(n.graph, parts, node_import::axis_in(n.integer("axis", 0), rank)));
}
inline ref sliced(ref x, int axis, std::int64_t begin, extent count) {
  extents shape = x.shape();
  shape[axis] = count;
  ops::box_attrs box{};
  box.begin[axis] = begin;
  return emit_as<ops::slice>(shape, x.type(), box, x);
}
inline void import_split(node_import& n) {
  const ref x = n.in(0);
  const int axis = node_import::axis_in(n.integer("axis", 0), x.rank()), parts = n.results();
  const extent whole = x.shape()[axis];
  std::vector<std::int64_t> sizes;
  if (n.has(1)) {
    sizes = n.numbers(1, "the parts' sizes");
  } else {
    if (whole < 0 || parts == 0)
      node_import::fail("an extent that has a name can't be split into equal parts", problem::split_extent);
    const std::int64_t each = (whole + parts - 1) / parts;
    if (whole > 0 && each * (parts - 1) >= whole)
      node_import::fail("only the last of the parts may be smaller than the others", problem::split_extent);
    for (int k = 0; k < parts; ++k) sizes.push_back(std::min(each, whole - k * each));
  }
  if (static_cast<int>(sizes.size()) != parts)
    node_import::fail("as many sizes as results are needed", problem::split_extent);
  std::int64_t at = 0;
  for (int k = 0; k < parts; ++k) {
    const std::int64_t size = sizes[static_cast<std::size_t>(k)];
    if (size < 0 || size > most_elements || at > most_elements)
      node_import::fail("a part's size is out of range", problem::split_extent);
    n.give(k, sliced(x, axis, at, size));
    at += size;
  }
  if (whole >= 0 && at != whole) node_import::fail("the parts must make up the axis", problem::split_extent);
}
// Where a walk of ONNX's begins and ends on an axis of n elements. Positions beyond it mean its edges; a walk back from
// before the first element begins there.
struct bounds {
  std::int64_t begin = 0, end = 0, step = 1;  // as strided_slice has them; of an empty walk, these
};
inline bounds bounds_on(std::int64_t n, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const bool forward = step > 0;
  const auto position = [n](std::int64_t p, std::int64_t low, std::int64_t high) {
    if (p < 0) p = p < -n ? low : p + n;
    return std::clamp(p, low, high);
  };
  if (n == 0) return {};
  const std::int64_t first = forward ? position(begin, 0, n) : position(begin, 0, n - 1);
  const std::int64_t last = forward ? position(end, 0, n) : position(end, -1, n - 1);
  if (forward ? first >= last : first <= last) return {};
  return {first, last < 0 ? ops::axis_edge : last, std::clamp(step, -n, n)};
}
// Of an axis whose extent has a name: only what is beyond every extent means an edge.
inline bounds bounds_on_name(std::int64_t begin, std::int64_t end, std::int64_t step) {
  const bool forward = step > 0;
  const auto is_low = [](std::int64_t p) { return p <= -most_elements; };
  const auto is_high = [](std::int64_t p) { return p >= most_elements; };
  if (forward ? is_high(begin) || is_low(end) : is_high(end)) return {};
  const bool same_side = (begin < 0) == (end < 0) && !is_low(begin) && !is_low(end);
  if (same_side && (forward ? end <= begin : begin <= end)) return {};
  bounds b{begin, end, std::clamp(step, -most_elements, most_elements)};
  if (forward ? is_low(begin) || begin == 0 : is_high(begin)) b.begin = ops::axis_edge;
  if (!forward && is_low(begin)) b.begin = 0;
  if (forward ? is_high(end) : is_low(end)) b.end = ops::axis_edge;
  return b;
}
inline void import_slice(node_import& n) {
  const std::vector<std::int64_t> begins = n.numbers(1, "starts");
  std::vector<std::int64_t> ends, axes, steps(begins.size(), 1);
  const int rank = n.known(0) != nullptr ? n.known_rank(0) : n.in(0).rank();
  if (n.has(3)) axes = n.numbers(3, "axes");
  for (std::size_t i = 0; !n.has(3) && i < begins.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (n.has(4)) steps = n.numbers(4, "steps");
  const std::vector<known_number> stops = n.must_know(2, "ends");
  if (stops.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size())
    node_import::fail("starts, ends, axes and steps must be equally many");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) node_import::fail("a step of 0", problem::slice_stride);
    const int axis = node_import::axis_in(axes[i], rank);
    // An end that is the axis' own extent is its edge; other names are ends that the slice's extent follows from.
    if (!stops[i].named)
      ends.push_back(stops[i].n);
    else if (n.known(0) == nullptr && n.in(0).shape()[axis] == stops[i].n && steps[i] > 0)
      ends.push_back(ops::axis_edge);
    else if (n.known(0) == nullptr && steps[i] == 1 && begins[i] >= 0 && begins[i] < most_elements && axes.size() == 1)
      return n.give(sliced(n.in(0), axis, begins[i], n.graph.symbols.sub(stops[i].n, begins[i])));
    else
      node_import::fail("an end that is a named extent must be that of the axis");
  }
  if (const auto* k = n.known(0); k != nullptr && n.known_rank(0) == 1 && axes.size() == 1) {
    const auto size = static_cast<std::int64_t>(k->size());
    const bounds at = bounds_on(size, begins[0], ends[0], steps[0]);
    const ops::walk w = ops::resolve_walk(size, at.begin, at.end, at.step);
    std::vector<known_number> all;
    for (std::int64_t i = 0; i < w.count; ++i) all.push_back((*k)[static_cast<std::size_t>(w.first + i * at.step)]);
    return n.give_known(std::move(all), 1, n.known_type(0));
  }
  ops::stride_attrs a{};
  for (int i = 0; i < max_rank; ++i) a.begin[i] = a.end[i] = ops::axis_edge, a.stride[i] = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = node_import::axis_in(axes[i], rank);
    const extent size = n.in(0).shape()[axis];
    const bounds at =
        size >= 0 ? bounds_on(size, begins[i], ends[i], steps[i]) : bounds_on_name(begins[i], ends[i], steps[i]);
    a.begin[axis] = at.begin;
    a.end[axis] = at.end;
    a.stride[axis] = at.step;
  }
  n.give(emit<ops::strided_slice>(a, n.in(0)));
}
inline void import_pad(node_import& n) {
  if (n.text("mode", "constant") != "constant") node_import::fail("only constant padding is supported");
  ref x = n.in(0);
  const int rank = x.rank();
  const std::vector<std::int64_t> pads = n.numbers(1, "the paddings");
  std::vector<std::int64_t> axes;
  if (n.has(3)) axes = n.numbers(3, "axes");
  for (int i = 0; !n.has(3) && i < rank; ++i) axes.push_back(i);
  if (pads.size() != 2 * axes.size()) node_import::fail("there must be two paddings for every axis", problem::pad_rank);
  ops::pad::attrs a{};
  a.value = n.has(2) ? n.number_word(2, x.type(), "the value to pad with") : 0;
  ops::box_attrs kept{};
  extents inner = x.shape(), shape = inner;
  symbols& s = n.graph.symbols;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = node_import::axis_in(axes[i], rank);
    const std::int64_t before = pads[i], after = pads[i + axes.size()];
    if (before < -most_elements || after < -most_elements || before > most_elements || after > most_elements)
      node_import::fail("a padding is out of range", problem::pad_rank);
    // What is below 0 is cut off.
    kept.begin[axis] = std::max<std::int64_t>(0, -before);
    const std::int64_t cut = kept.begin[axis] + std::max<std::int64_t>(0, -after);
    const extent whole = inner[axis];
    if (whole >= 0 && whole + before + after < 0)
      node_import::fail("more is cut off than there is", problem::slice_bounds);
    shape[axis] = before + after >= 0 ? s.add(whole, before + after) : s.sub(whole, -(before + after));
    inner[axis] = whole >= 0 && cut > whole ? 0 : s.sub(whole, cut);
    kept.begin[axis] = inner[axis] == 0 ? 0 : kept.begin[axis];
    a.begin[axis] = std::max<std::int64_t>(0, inner[axis] == 0 ? 0 : before);
  }
  if (inner != x.shape()) x = emit_as<ops::slice>(inner, x.type(), kept, x);
  n.give(emit_as<ops::pad>(shape, x.type(), a, x));
}
inline void import_tile(node_import& n) {
  ref x = n.in(0);
  const std::vector<std::int64_t> counts = n.numbers(1, "the repeats");
  if (static_cast<int>(counts.size()) != x.rank())
    node_import::fail("there must be one count for every axis", problem::tile_rank);
  ops::tile::attrs a{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || counts[i] > most_elements) node_import::fail("a count is out of range", problem::tile_rank);
    if (counts[i] == 0) x = sliced(x, static_cast<int>(i), 0, 0);
    a.count[i] = std::max<std::int64_t>(1, counts[i]);
  }
  n.give(emit<ops::tile>(a, x));
}

// Whether some of the indices may be negative, which count from the back.
inline bool may_be_negative(node_import& n, ref indices) {
  if (!is_integer(indices.type()) || indices.type() < dtype::int32)
    node_import::fail("indices must be int32 or int64", problem::needs_integer);
  if (!indices.is(op_def_of<ops::literal>)) return true;
  const std::int64_t* words = n.graph.words.begin() + indices.get().attrs;
  return std::any_of(words, words + indices.get().n_attrs, [](std::int64_t w) { return w < 0; });
}
// sizes: an extent, or one for each element of the indices' last axis.
inline ref counted_from_front(node_import& n, ref indices, ref sizes) {
  return emit<ops::select>(emit<ops::less>(indices, n.scalar(indices, 0)),
                           indices + node_import::cast(sizes, indices.type()), indices);
}
inline ref from_front(node_import& n, ref indices, extent size) {
  return may_be_negative(n, indices) ? counted_from_front(n, indices, n.table.extent_node(size)) : indices;
}
// Of indices [..., k] into the first k axes of x.
inline ref positions_from_front(node_import& n, ref indices, ref x) {
  const extents e = x.shape();
  const extent depth = indices.rank() == 0 ? 0 : indices.shape().last(0);
  if (!may_be_negative(n, indices) || depth < 1 || depth > e.rank) return indices;  // the op says what is wrong
  imported_value sizes{.known = std::vector<known_number>{}};
  for (int i = 0; i < depth; ++i) sizes.known->push_back({e[i], e[i] < 0});
  return counted_from_front(n, indices, n.table.node("", sizes));
}
inline void import_gather(node_import& n) {
  const auto *from = n.known(0), *at = n.known(1);
  if (from != nullptr && at != nullptr && n.known_rank(0) == 1) {
    std::vector<known_number> all;
    for (const known_number& k : *at) {
      const auto size = static_cast<std::int64_t>(from->size());
      if (k.named || k.n < -size || k.n >= size)
        node_import::fail("an index is out of range", problem::index_out_of_range);
      all.push_back((*from)[static_cast<std::size_t>(k.n < 0 ? k.n + size : k.n)]);
    }
    return n.give_known(std::move(all), n.known_rank(1), n.known_type(0));
  }
  const ref x = n.in(0);
  const int axis = node_import::axis_in(n.integer("axis", 0), x.rank());
  n.give(emit<ops::gather>({axis}, x, from_front(n, n.in(1), x.shape()[axis])));
}
inline void import_gather_elements(node_import& n) {
  ref x = n.in(0);
  const int axis = node_import::axis_in(n.integer("axis", 0), x.rank());
  const extents at = n.in(1).shape();
  const ref indices = from_front(n, n.in(1), x.shape()[axis]);
  // Along other axes there may be fewer indices than elements.
  for (int i = 0; i < x.rank() && at.rank == x.rank(); ++i)
    if (i != axis && at[i] != x.shape()[i] && at[i] >= 0) x = sliced(x, i, 0, at[i]);
  n.give(emit<ops::take_along_axis>({axis}, x, indices));
}
inline void import_gather_nd(node_import& n) {
  if (n.integer("batch_dims", 0) != 0) node_import::fail("batch_dims are not supported");
  n.give(emit<ops::gather_nd>(n.in(0), positions_from_front(n, n.in(1), n.in(0))));
}
// Updates take the place of what was there, or are added to it. Positions that occur twice can only be added.
inline void import_scatter_nd(node_import& n) {
  const std::string how = n.text("reduction", "none");
  if (how != "none" && how != "add") node_import::fail("the reduction \"" + how + "\" is not supported");
  const ref x = n.in(0), indices = positions_from_front(n, n.in(1), x), updates = n.in(2);
  const auto scattered = [&](ref values) { return emit_as<ops::scatter_nd>(x.shape(), x.type(), indices, values); };
  if (how == "add") return n.give(x + scattered(updates));
  const ref there = scattered(n.table.filled(x.type(), updates.shape(), 1));
  n.give(emit<ops::select>(emit<ops::equal>(there, n.scalar(x, 0)), x, scattered(updates)));
}
// As ONNX: indices from -depth on count from the back.
inline void import_one_hot(node_import& n) {
  const double given = n.number(1, "the depth");
  const ref values = n.in(2), indices = n.in(0);
  if (!(given >= 1 && given < static_cast<double>(most_elements)) || values.rank() != 1 || values.shape()[0] != 2)
    node_import::fail("a depth and the two values off and on are needed");
  const auto depth = static_cast<std::int64_t>(given);
  if (indices.rank() == max_rank) node_import::fail("a tensor has at most 8 axes", problem::rank_too_high);
  extents shape = indices.shape();
  shape.push(depth);
  const ref marked = emit_as<ops::one_hot>(shape, dtype::boolean, {1, 0},
                                           from_front(n, node_import::cast(indices, dtype::int64), depth));
  const ref off = node_import::reshape(sliced(values, 0, 0, 1), {}),
            on = node_import::reshape(sliced(values, 0, 1, 1), {});
  ref y = emit<ops::select>(marked, on, off);  // chosen, not computed: either may be infinite
  const int axis = node_import::axis_in(n.integer("axis", -1), shape.rank);
  if (axis != shape.rank - 1) {
    std::vector<int> perm;
    for (int i = 0; i < shape.rank; ++i) perm.push_back(i < axis ? i : i == axis ? shape.rank - 1 : i - 1);
    y = node_import::transpose(y, perm);
  }
  n.give(y);
}

inline void import_top_k(node_import& n) {
  ref x = n.in(0);
  const int rank = x.rank(), axis = node_import::axis_in(n.integer("axis", -1), rank);
  const std::vector<known_number> count = n.must_know(1, "k");
  const bool largest = n.integer("largest", 1) != 0;
  if (count.size() != 1) node_import::fail("k must be one number");
  const ref order = emit<ops::argsort>({axis, largest}, x);
  const ref first = sliced(order, axis, 0, n.extent_of(count[0]));
  n.give(0, emit<ops::take_along_axis>({axis}, x, first));
  n.give(1, first);
}
template <class Op>
void import_position(node_import& n) {
  if (n.integer("select_last_index", 0) != 0) node_import::fail("only the first of equals can be found");
  const ref x = n.in(0);
  const int axis = node_import::axis_in(n.integer("axis", 0), x.rank());
  const ref y = emit<Op>({axis}, x);
  if (n.integer("keepdims", 1) == 0) return n.give(y);
  extents kept = x.shape();
  kept[axis] = 1;
  n.give(node_import::reshape(y, kept));
}
inline void import_cumsum(node_import& n) {
  const ref x = n.in(0);
  const std::vector<std::int64_t> axis = n.numbers(1, "the axis");
  if (axis.size() != 1) node_import::fail("one axis is needed");
  n.give(emit<ops::cumsum>(
      {node_import::axis_in(axis[0], x.rank()), n.integer("exclusive", 0) != 0, n.integer("reverse", 0) != 0}, x));
}
inline void import_trilu(node_import& n) {
  const ref x = n.in(0);
  const std::vector<std::int64_t> given = n.has(1) ? n.numbers(1, "k") : std::vector<std::int64_t>{0};
  const bool upper = n.integer("upper", 1) != 0;
  if (given.size() != 1 || given[0] > most_elements || given[0] < -most_elements || x.rank() < 2)
    node_import::fail("a matrix and one k are needed");
  const std::int64_t k = given[0];
  if (upper && k <= 0) return n.give(emit<ops::band_part>({-k, -1}, x));
  if (!upper && k >= 0) return n.give(emit<ops::band_part>({-1, k}, x));
  // Beyond the main diagonal: all but what lies on its other side. Chosen, not subtracted: x may be infinite.
  const ref ones = n.table.filled(x.type(), x.shape(), 1);
  const ref other = upper ? emit<ops::band_part>({-1, k - 1}, ones) : emit<ops::band_part>({-k - 1, -1}, ones);
  n.give(emit<ops::select>(emit<ops::equal>(other, n.scalar(x, 0)), x, n.scalar(x, 0)));
}

inline constexpr import_rule array_import_rules[] = {
    {"Concat", import_concat},
    {"Split", import_split},
    {"Slice", import_slice},
    {"Pad", import_pad},
    {"Tile", import_tile},
    {"Gather", import_gather},
    {"GatherElements", import_gather_elements},
    {"GatherND", import_gather_nd},
    {"ScatterND", import_scatter_nd},
    {"OneHot", import_one_hot},
    {"TopK", import_top_k},
    {"ArgMax", import_position<ops::argmax>},
    {"ArgMin", import_position<ops::argmin>},
    {"CumSum", import_cumsum},
    {"Trilu", import_trilu},
    {"Det", [](node_import& n) { n.give(emit<ops::matrix_determinant>(n.in(0))); }},
};

}  // namespace flowgraph::onnx
