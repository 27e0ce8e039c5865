// How ONNX ops are read that make elements of nothing, or give those that there are another shape.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/ops/range.hpp>
#include "node_import.hpp"

namespace flowgraph::onnx {

inline void import_identity(node_import& n) { n.pass_on(0); }
// In inference it is the identity, which drops nothing.
inline void import_dropout(node_import& n) {
  if (n.has(2) && n.number(2, "training_mode") != 0 && (!n.has(1) || n.number(1, "the ratio") != 0))
    node_import::fail("training_mode is not supported");
  if (n.wants(1)) n.give(1, n.table.filled(dtype::boolean, n.in(0).shape(), 1));
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
  if (a == nullptr || !a->t) return n.give(n.table.filled(dtype::float32, shape, 0));
  const dtype type = a->t->type();
  if (type == dtype::none || count_elements(a->t->dims) != 1) node_import::fail("value must be one number");
  std::int64_t word = 0;
  detail::with_type(type, [&]<class T>(T) {
    T x;
    std::memcpy(static_cast<void*>(&x), a->t->data.data(), sizeof(T));
    word = ops::literal_word(x);
  });
  n.give(n.table.filled_with(type, shape, word));
}
// A limit that is a named extent, counted from 0 by 1, or numbers.
inline void import_range(node_import& n) {
  const auto *start = n.known(0), *limit = n.known(1), *step = n.known(2);
  const auto one = [](const std::vector<known_number>* k) { return k != nullptr && k->size() == 1; };
  if (!one(start) || !one(limit) || !one(step) || (*start)[0].named || (*step)[0].named)
    node_import::fail("start, limit and delta must be whole numbers that are known when the model is imported");
  const std::int64_t from = (*start)[0].n, by = (*step)[0].n;
  known_number count = (*limit)[0];
  if (by == 0) node_import::fail("a range must not stand still");
  if (count.named && (from != 0 || by != 1)) node_import::fail("a range up to a named extent must count from 0 by 1");
  if (!count.named) {
    const std::int64_t end = count.n;
    const bool empty = by > 0 ? end <= from : end >= from;
    // As unsigned numbers differences don't overflow.
    const auto distance =
        static_cast<std::uint64_t>(by > 0 ? end : from) - static_cast<std::uint64_t>(by > 0 ? from : end);
    const auto stride = by > 0 ? static_cast<std::uint64_t>(by) : std::uint64_t{0} - static_cast<std::uint64_t>(by);
    const std::uint64_t turns = empty ? 0 : (distance - 1) / stride + 1;
    if (turns > static_cast<std::uint64_t>(most_elements))
      node_import::fail("its result is larger than any tensor here");
    count.n = static_cast<std::int64_t>(turns);
  }
  const extents shape{1, {n.extent_of(count)}};
  const dtype type = n.known_type(0);
  const auto block = detail::words_of(ops::count_up(type));
  ref y{&n.graph, n.graph.append(op_def_of<ops::range>, n.graph.intern_shape(shape), type, nullptr, 0, block.w, 2)};
  if (by != 1) y = y * n.table.filled_with(type, {}, by);
  n.give(from == 0 ? y : y + n.table.filled_with(type, {}, from));
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

// a / b where it is a product of what a is a product of: factors that both have cancel.
inline std::optional<extent> quotient(symbols& s, extent a, extent b) {
  if (a == b) return 1;
  const auto terms_of = [&](extent e) {
    return e >= 0 ? detail::extent_polynomial(e) : detail::extent_polynomial(s.text(e));
  };
  const detail::extent_polynomial above = terms_of(a), below = terms_of(b);
  detail::extent_polynomial result;
  const detail::extent_term* by = nullptr;
  for (const detail::extent_term& t : below.terms())
    if (t.coefficient != 0 && std::exchange(by, &t) != nullptr) return {};  // a sum
  if (by == nullptr) return {};
  for (const detail::extent_term& t : above.terms()) {
    if (t.coefficient % by->coefficient != 0) return {};
    detail::extent_term left;
    left.coefficient = t.coefficient / by->coefficient;
    int same = 0;  // both lists are sorted
    for (int i = 0; i < t.count; ++i) {
      if (same < by->count && t.factors[i].view() == by->factors[same].view())
        ++same;
      else
        left.multiply(t.factors[i].view());
    }
    if (same < by->count) return {};
    result.add(left);
  }
  std::int64_t number = 0;
  return result.constant(number) ? number : s.intern(result.text().view());
}
// The extent that -1 stands for: what is left of the operand's elements.
inline extent rest_of(node_import& n, const extents& from, const std::vector<known_number>& to) {
  symbols& s = n.graph.symbols;
  extent above = s.product(from), below = 1;
  for (const known_number& k : to) {
    if (k.n == -1 && !k.named) continue;
    if (!k.named && (k.n <= 0 || (below > 0 && k.n > most_elements / below)))
      node_import::fail("the shape leaves nothing for -1", problem::reshape_count);
    below = s.mul(below, k.n);
  }
  if (above >= 0 && below > 0 && above % below != 0)
    node_import::fail("the elements don't fill the shape", problem::reshape_count);
  const std::optional<extent> rest = quotient(s, above, below);
  if (!rest) node_import::fail("what -1 stands for can't be told from named extents");
  return *rest;
}
inline void import_reshape(node_import& n) {
  std::vector<known_number> to = n.must_know(1, "the shape");
  // A number that is known stays known as a scalar or a vector.
  if (const auto* k = n.known(0);
      k != nullptr && to.size() <= 1 &&
      (to.empty() ? k->size() == 1
                  : !to[0].named && (to[0].n == -1 || to[0].n == static_cast<std::int64_t>(k->size()))))
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
  const std::int64_t mask = n.has(1) ? axes.empty() ? 0 : node_import::mask_of(axes, e.rank) : -1;
  extents to;
  for (int i = 0; i < e.rank; ++i) {
    const bool named = (mask >> i) & 1, removed = named && e[i] == 1;
    if (!n.has(1) && e[i] < 0)
      node_import::fail("which axes are removed must be said: the extent \"" + std::string(n.graph.symbols.text(e[i])) +
                            "\" may be 1 when the model runs",
                        problem::squeeze_extent);
    if (named && !removed && n.has(1))
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

inline constexpr import_rule shape_import_rules[] = {
    {"Identity", import_identity},   {"Dropout", import_dropout},
    {"Constant", import_constant},   {"ConstantOfShape", import_constant_of_shape},
    {"Range", import_range},         {"Shape", import_shape},
    {"Size", import_size},           {"Reshape", import_reshape},
    {"Flatten", import_flatten},     {"Squeeze", import_squeeze},
    {"Unsqueeze", import_unsqueeze}, {"Transpose", import_transpose},
    {"Expand", import_expand},
};

}  // namespace flowgraph::onnx
