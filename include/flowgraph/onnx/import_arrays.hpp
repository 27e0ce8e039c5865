// How ONNX ops are read that make, move, choose and order elements. Those that compute shapes work on known numbers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <flowgraph/ops/gather.hpp>
#include <flowgraph/ops/linalg.hpp>
#include <flowgraph/ops/range.hpp>
#include <flowgraph/ops/slice.hpp>
#include <flowgraph/ops/sort.hpp>
#include <flowgraph/ops/tile.hpp>
#include "node_import.hpp"

namespace flowgraph::onnx {

inline void import_identity(node_import& n) { n.pass_on(0); }
// In inference it is the identity.
inline void import_dropout(node_import& n) {
  n.refuse_result(1, "the mask");
  n.pass_on(0);
}

inline void import_constant(node_import& n) {
  const attribute_proto *t = n.attribute("value"), *i = n.attribute("value_int"), *is = n.attribute("value_ints");
  const attribute_proto *f = n.attribute("value_float"), *fs = n.attribute("value_floats");
  if (t != nullptr && t->t) return n.give(0, imported_value{.tensor = &*t->t});
  if (i != nullptr) return n.give_known({{i->i}}, 0);
  if (is != nullptr) {
    std::vector<known_number> all;
    for (const std::int64_t each : is->ints) all.push_back({each});
    return n.give_known(std::move(all), 1);
  }
  if (f != nullptr) return n.give(n.table.scalar(dtype::float32, static_cast<double>(f->f)));
  if (fs == nullptr) node_import::fail("a constant must be a tensor or numbers");
  detail::vec<std::int64_t> words;
  for (const float each : fs->floats) words.push(ops::literal_word(each));
  n.give({&n.graph, n.graph.append(op_def_of<ops::literal>, n.graph.intern_shape({1, {words.size()}}), dtype::float32,
                                   nullptr, 0, words.begin(), words.size())});
}
inline void import_constant_of_shape(node_import& n) {
  const extents shape = n.extents_of(n.must_know(0, "the shape"));
  const attribute_proto* a = n.attribute("value");
  dtype type = dtype::float32;
  double value = 0;
  if (a != nullptr && a->t) {
    type = a->t->type();
    if (type == dtype::none || count_elements(a->t->dims) != 1) node_import::fail("value must be one number");
    detail::with_type(type, [&]<class T>(T) {
      T x;
      std::memcpy(static_cast<void*>(&x), a->t->data.data(), sizeof(T));
      value = detail::convert<double>(x);
    });
  }
  n.give(n.table.filled(type, shape, value));
}
// A limit that is a named extent, counted from 0 by 1, or numbers.
inline void import_range(node_import& n) {
  const auto *start = n.known(0), *limit = n.known(1), *step = n.known(2);
  const auto one = [](const std::vector<known_number>* k) { return k != nullptr && k->size() == 1; };
  if (!one(start) || !one(limit) || !one(step) || (*start)[0].named || (*step)[0].named)
    node_import::fail("start, limit and delta must be whole numbers that are known when the model is imported");
  const std::int64_t from = (*start)[0].n, by = (*step)[0].n;
  known_number count = (*limit)[0];
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (by == 0 || from < -most || from > most || by < -most || by > most ||
      (!count.named && (count.n < -most || count.n > most)))
    node_import::fail("start, limit or delta is out of range");
  if (count.named && (from != 0 || by != 1)) node_import::fail("a range up to a named extent must count from 0 by 1");
  if (!count.named) count.n = (by > 0 ? count.n - from + by - 1 : from - count.n - by - 1) / (by > 0 ? by : -by);
  if (!count.named && count.n < 0) count.n = 0;
  const extents shape{1, {n.extent_of(count)}};
  const auto block = detail::words_of(ops::range::attrs{static_cast<double>(from), static_cast<double>(by)});
  n.give({&n.graph,
          n.graph.append(op_def_of<ops::range>, n.graph.intern_shape(shape), n.known_type(0), nullptr, 0, block.w, 2)});
}

inline void import_shape(node_import& n) {
  const extents e = n.in(0).shape();
  const auto clamp = [&](std::int64_t at) {
    if (at < 0) at += e.rank;
    return static_cast<int>(at < 0 ? 0 : at > e.rank ? e.rank : at);
  };
  const int begin = clamp(n.integer("start", 0)), end = clamp(n.integer("end", e.rank));
  std::vector<known_number> all;
  for (int i = begin; i < end; ++i) all.push_back({e[i], e[i] < 0});
  n.give_known(std::move(all), 1);
}
inline void import_size(node_import& n) {
  const extent count = n.graph.symbols.product(n.in(0).shape());
  n.give_known({{count, count < 0}}, 0);
}

// The extent that -1 stands for: what is left of the operand's elements. Named extents of both shapes cancel.
inline extent rest_of(node_import& n, const extents& from, const std::vector<known_number>& to) {
  symbols& s = n.graph.symbols;
  std::vector<extent> above(from.d, from.d + from.rank);
  std::int64_t below = 1;
  for (const known_number& k : to) {
    if (k.n == -1 && !k.named) continue;
    if (!k.named) {
      below *= k.n;
      if (below <= 0 || below > most_elements)
        node_import::fail("the shape leaves nothing for -1", problem::reshape_count);
      continue;
    }
    const auto same = std::find(above.begin(), above.end(), k.n);
    if (same == above.end()) node_import::fail("what -1 stands for can't be told from named extents");
    above.erase(same);
  }
  extent rest = 1;
  for (const extent e : above) rest = s.mul(rest, e);
  if (rest >= 0 && rest % below != 0) node_import::fail("the elements don't fill the shape", problem::reshape_count);
  return s.floordiv(rest, below);
}
inline void import_reshape(node_import& n) {
  std::vector<known_number> to = n.must_know(1, "the shape");
  // A number that is known stays known as a scalar or a vector.
  if (const auto* k = n.known(0);
      k != nullptr && to.size() <= 1 &&
      (to.empty() ? k->size() == 1 : to[0].n == -1 || to[0].n == static_cast<std::int64_t>(k->size())))
    return n.give_known(*k, static_cast<int>(to.size()), n.known_type(0));
  const ref x = n.in(0);
  const extents from = x.shape();
  if (to.size() > static_cast<std::size_t>(max_rank))
    node_import::fail("a tensor has at most 8 axes", problem::rank_too_high);
  int unknown = -1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].named) continue;
    if (to[i].n == 0 && n.integer("allowzero", 0) == 0) {
      if (static_cast<int>(i) >= from.rank) node_import::fail("0 stands for an axis that the operand has not");
      const extent e = from[static_cast<int>(i)];
      to[i] = {e, e < 0};
    } else if (to[i].n == -1) {
      if (unknown >= 0) node_import::fail("-1 stands twice in the shape");
      unknown = static_cast<int>(i);
    } else if (to[i].n < 0) {
      node_import::fail("an extent of " + std::to_string(to[i].n));
    }
  }
  if (unknown >= 0) {
    const extent e = rest_of(n, from, to);
    to[static_cast<std::size_t>(unknown)] = {e, e < 0};
  }
  n.give(node_import::reshape(x, n.extents_of(to)));
}
inline void import_flatten(node_import& n) {
  const ref x = n.in(0);
  const extents e = x.shape();
  std::int64_t axis = n.integer("axis", 1);
  if (axis < -e.rank || axis > e.rank) node_import::fail("axis " + std::to_string(axis) + " is out of range");
  if (axis < 0) axis += e.rank;
  extents front, back;
  for (int i = 0; i < e.rank; ++i) (i < axis ? front : back).push(e[i]);
  symbols& s = n.graph.symbols;
  n.give(node_import::reshape(x, {2, {s.product(front), s.product(back)}}));
}
inline void import_squeeze(node_import& n) {
  std::vector<std::int64_t> axes;
  if (n.has(1)) axes = n.numbers(1, "the axes");
  if (const auto* k = n.known(0); k != nullptr && k->size() == 1 && n.known_rank(0) == 1)
    return n.give_known(*k, 0, n.known_type(0));
  const ref x = n.in(0);
  const extents e = x.shape();
  const std::int64_t mask = node_import::mask_of(axes, e.rank);
  extents to;
  for (int i = 0; i < e.rank; ++i) {
    const bool named = (mask >> i) & 1, removed = named && e[i] == 1;
    if (named && !removed && !axes.empty())
      node_import::fail("only an axis of extent 1 can be removed", problem::squeeze_extent);
    if (!removed) to.push(e[i]);
  }
  n.give(node_import::reshape(x, to));
}
inline void import_unsqueeze(node_import& n) {
  const std::vector<std::int64_t> axes = n.numbers(1, "the axes");
  if (const auto* k = n.known(0); k != nullptr && n.known_rank(0) == 0 && axes.size() == 1)
    return n.give_known(*k, 1, n.known_type(0));
  const ref x = n.in(0);
  const extents e = x.shape();
  const int rank = e.rank + static_cast<int>(std::min<std::size_t>(axes.size(), max_rank));
  if (rank > max_rank) node_import::fail("a tensor has at most 8 axes", problem::rank_too_high);
  const std::int64_t mask = axes.empty() ? 0 : node_import::mask_of(axes, rank);
  extents to;
  for (int i = 0, from = 0; i < rank; ++i) to.push((mask >> i) & 1 ? 1 : e[from++]);
  n.give(node_import::reshape(x, to));
}
inline void import_transpose(node_import& n) {
  const ref x = n.in(0);
  const attribute_proto* a = n.attribute("perm");
  std::vector<int> perm;
  for (int i = x.rank(); i-- > 0;) perm.push_back(i);
  if (a != nullptr) {
    if (static_cast<int>(a->ints.size()) != x.rank())
      node_import::fail("perm must name every axis", problem::permutation);
    for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = node_import::axis_in(a->ints[i], x.rank());
  }
  n.give(node_import::transpose(x, perm));
}
// Both shapes broadcast.
inline void import_expand(node_import& n) {
  const ref x = n.in(0);
  const extents from = x.shape(), to = n.extents_of(n.must_know(1, "the shape"));
  extents both;
  both.rank = std::max(from.rank, to.rank);
  for (int i = 0; i < both.rank; ++i) {
    const extent a = i < from.rank ? from.last(i) : 1, b = i < to.rank ? to.last(i) : 1;
    both.d[both.rank - 1 - i] = b == 1 ? a : b;
  }
  n.give(both == from ? x : emit_as<ops::broadcast_to>(both, x.type(), x));
}
inline void import_concat(node_import& n) {
  bool known = true;
  std::vector<known_number> all;
  for (int k = 0; k < n.operands() && known; ++k) {
    const auto* part = n.known(k);
    known = part != nullptr && n.known_rank(k) == 1;
    if (known) all.insert(all.end(), part->begin(), part->end());
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
    for (int k = 0; k < parts; ++k) sizes.push_back(std::max<std::int64_t>(0, std::min(each, whole - k * each)));
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
inline void import_slice(node_import& n) {
  constexpr std::int64_t far = std::int64_t{1} << 31;
  const std::vector<std::int64_t> begins = n.numbers(1, "starts");
  std::vector<std::int64_t> ends, axes, steps(begins.size(), 1);
  const int rank = n.known(0) != nullptr ? 1 : n.in(0).rank();
  if (n.has(3)) axes = n.numbers(3, "axes");
  for (std::size_t i = 0; !n.has(3) && i < begins.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (n.has(4)) steps = n.numbers(4, "steps");
  const std::vector<known_number> stops = n.must_know(2, "ends");
  if (stops.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size())
    node_import::fail("starts, ends, axes and steps must be equally many");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0 || steps[i] < -far || steps[i] > far)
      node_import::fail("a step of " + std::to_string(steps[i]), problem::slice_stride);
    const int axis = node_import::axis_in(axes[i], rank);
    // An end that is the axis' own extent is its edge; other names are ends that the slice's extent follows from.
    if (!stops[i].named)
      ends.push_back(stops[i].n);
    else if (n.known(0) == nullptr && n.in(0).shape()[axis] == stops[i].n && steps[i] > 0)
      ends.push_back(ops::axis_edge);
    else if (n.known(0) == nullptr && steps[i] == 1 && begins[i] >= 0 && begins[i] < far && axes.size() == 1)
      return n.give(sliced(n.in(0), axis, begins[i], n.graph.symbols.sub(stops[i].n, begins[i])));
    else
      node_import::fail("an end that is a named extent must be that of the axis");
  }
  if (const auto* k = n.known(0)) {
    if (n.known_rank(0) != 1 || axes.size() != 1) node_import::fail("numbers of a shape are cut along one axis");
    const ops::walk w = ops::resolve_walk(static_cast<std::int64_t>(k->size()), begins[0], ends[0], steps[0]);
    std::vector<known_number> all;
    for (std::int64_t i = 0; i < w.count; ++i) all.push_back((*k)[static_cast<std::size_t>(w.first + i * steps[0])]);
    return n.give_known(std::move(all), 1, n.known_type(0));
  }
  ops::stride_attrs a{};
  for (int i = 0; i < max_rank; ++i) a.begin[i] = a.end[i] = ops::axis_edge, a.stride[i] = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = node_import::axis_in(axes[i], rank);
    const bool forward = steps[i] > 0;
    // Far beyond either end means the edge.
    a.begin[axis] = (forward ? begins[i] <= -far || begins[i] == 0 : begins[i] >= far) ? ops::axis_edge : begins[i];
    a.end[axis] = (forward ? ends[i] >= far : ends[i] <= -far) ? ops::axis_edge : ends[i];
    a.stride[axis] = steps[i];
    if ((a.begin[axis] != ops::axis_edge && std::abs(a.begin[axis]) > far) ||
        (a.end[axis] != ops::axis_edge && std::abs(a.end[axis]) > far))
      node_import::fail("a slice that begins behind its end", problem::slice_bounds);
  }
  n.give(emit<ops::strided_slice>(a, n.in(0)));
}
inline void import_pad(node_import& n) {
  if (n.text("mode", "constant") != "constant") node_import::fail("only constant padding is supported");
  const ref x = n.in(0);
  const int rank = x.rank();
  const std::vector<std::int64_t> pads = n.numbers(1, "the paddings");
  std::vector<std::int64_t> axes;
  if (n.has(3)) axes = n.numbers(3, "axes");
  for (int i = 0; !n.has(3) && i < rank; ++i) axes.push_back(i);
  if (pads.size() != 2 * axes.size()) node_import::fail("there must be two paddings for every axis", problem::pad_rank);
  ops::pad::attrs a{};
  a.value = n.has(2) ? n.number(2, "the value to pad with") : 0;
  extents shape = x.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = node_import::axis_in(axes[i], rank);
    const std::int64_t before = pads[i], after = pads[i + axes.size()];
    if (before < 0 || after < 0 || before > most_elements || after > most_elements)
      node_import::fail("a padding is out of range", problem::pad_rank);
    a.begin[axis] = before;
    shape[axis] = n.graph.symbols.add(shape[axis], before + after);
  }
  n.give(emit_as<ops::pad>(shape, x.type(), a, x));
}
inline void import_tile(node_import& n) {
  const ref x = n.in(0);
  const std::vector<std::int64_t> counts = n.numbers(1, "the repeats");
  if (static_cast<int>(counts.size()) != x.rank())
    node_import::fail("there must be one count for every axis", problem::tile_rank);
  ops::tile::attrs a{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 1 || counts[i] > most_elements) node_import::fail("a count is out of range", problem::tile_rank);
    a.count[i] = counts[i];
  }
  n.give(emit<ops::tile>(a, x));
}

// Negative indices count from the back; those of a constant are made positive here, others are by a select.
inline ref from_front(node_import& n, ref indices, extent size) {
  if (!is_integer(indices.type()) || indices.type() < dtype::int32)
    node_import::fail("indices must be int32 or int64", problem::needs_integer);
  if (indices.is(op_def_of<ops::literal>)) {
    const std::int64_t* words = n.graph.words.begin() + indices.get().attrs;
    bool negative = false;
    for (int i = 0; i < indices.get().n_attrs; ++i) negative = negative || words[i] < 0;
    if (!negative) return indices;
  }
  const ref count = size >= 0 ? n.table.scalar(indices.type(), static_cast<double>(size))
                              : node_import::cast(n.table.extent_node(size), indices.type());
  return emit<ops::select>(emit<ops::less>(indices, n.scalar(indices, 0)), indices + count, indices);
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
  const ref x = n.in(0);
  const int axis = node_import::axis_in(n.integer("axis", 0), x.rank());
  n.give(emit<ops::take_along_axis>({axis}, x, from_front(n, n.in(1), x.shape()[axis])));
}
inline void import_gather_nd(node_import& n) {
  if (n.integer("batch_dims", 0) != 0) node_import::fail("batch_dims are not supported");
  n.give(emit<ops::gather_nd>(n.in(0), n.in(1)));
}
// Updates take the place of what was there, or are added to it. Positions that occur twice can only be added.
inline void import_scatter_nd(node_import& n) {
  const std::string how = n.text("reduction", "none");
  if (how != "none" && how != "add") node_import::fail("the reduction \"" + how + "\" is not supported");
  const ref x = n.in(0), indices = n.in(1), updates = n.in(2);
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
  const ref marked = emit_as<ops::one_hot>(shape, values.type(), {1, 0},
                                           from_front(n, node_import::cast(indices, dtype::int64), depth));
  const ref off = node_import::reshape(sliced(values, 0, 0, 1), {}),
            on = node_import::reshape(sliced(values, 0, 1, 1), {});
  ref y = marked * (on - off) + off;
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
  if (given.size() != 1 || std::abs(given[0]) > most_elements || x.rank() < 2)
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
    {"Identity", import_identity},
    {"Dropout", import_dropout},
    {"Constant", import_constant},
    {"ConstantOfShape", import_constant_of_shape},
    {"Range", import_range},
    {"Shape", import_shape},
    {"Size", import_size},
    {"Reshape", import_reshape},
    {"Flatten", import_flatten},
    {"Squeeze", import_squeeze},
    {"Unsqueeze", import_unsqueeze},
    {"Transpose", import_transpose},
    {"Expand", import_expand},
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
