// Random numbers in a graph: random_normal<float, batch, 8>(g). New ones in every step, the same ones for the same
// seed on any number of threads. Dropout and noise layers are made of these.
#pragma once
#include <cstdint>

#include <flowgraph/ops/random.hpp>
#include <flowgraph/ops/softmax.hpp>
#include <flowgraph/ops/sort.hpp>
#include "reshape.hpp"

namespace flowgraph {

namespace detail {

template <class Op, class Result, class Attrs = no_attrs>
constexpr Result random_node(source where, graph_data& g, bool in_range, const Attrs& attributes = {}) {
  using rule = typed_rule<Op, Attrs{}, Result, 0>;
  if constexpr (rule::result.why != problem::none) mistake<rule::result.why, Result>();
  g.where = where;
  if (!in_range) g.fail(problem::parameter_range, Op::name);
  return source_node<Op, Result>(where, g, attributes);
}

}  // namespace detail

// In [low, high).
template <element T, auto... E>
constexpr auto random_uniform(graph& g, double low = 0, double high = 1, caller where = {}) {
  return detail::random_node<ops::random_uniform, tensor<T, detail::canonical<E>()...>>(
      where, g.data(), low < high && high - low < 1e300, ops::random_uniform::attrs{low, high});
}

template <element T, auto... E>
constexpr auto random_normal(graph& g, double mean = 0, double deviation = 1, caller where = {}) {
  return detail::random_node<ops::random_normal, tensor<T, detail::canonical<E>()...>>(
      where, g.data(), mean - mean == 0 && deviation >= 0 && deviation < 1e300, ops::normal_attrs{mean, deviation});
}

// As random_normal, drawn again where it lies more than two deviations from the mean.
template <element T, auto... E>
constexpr auto truncated_normal(graph& g, double mean = 0, double deviation = 1, caller where = {}) {
  return detail::random_node<ops::truncated_normal, tensor<T, detail::canonical<E>()...>>(
      where, g.data(), mean - mean == 0 && deviation >= 0 && deviation < 1e300, ops::normal_attrs{mean, deviation});
}

// 1 (or true) with this probability, else 0.
template <element T, auto... E>
constexpr auto bernoulli(graph& g, double probability = 0.5, caller where = {}) {
  return detail::random_node<ops::bernoulli, tensor<T, detail::canonical<E>()...>>(
      where, g.data(), probability >= 0 && probability <= 1, ops::bernoulli::attrs{probability});
}

// The numbers from 0 to N-1 in a random order: int64 unless int32 is asked for.
template <auto N, element T = std::int64_t>
constexpr auto random_permutation(graph& g, caller where = {}) {
  return detail::random_node<ops::random_permutation, tensor<T, detail::canonical<N>()>>(where, g.data(), true);
}

namespace detail {

// [..., classes] -> [..., 1], or [..., draws, 1]
template <auto... Draws>
struct drawn {
  static constexpr extents apply(symbols& s, const extents& e) {
    extents r;
    for (int i = 0; i < e.rank - 1; ++i) r.push(e[i]);
    (r.push(shape_text_of<canonical<Draws>()>.in(s)[0]), ...);
    r.push(1);
    return r;
  }
};

// The class at which the sums of probabilities along the last axis first lie above u, which is uniform in (0, 1). In
// double: floats below 1 are 2^-24 apart, too far for rare classes among many. u is not 0, so that an exp which does
// not quite reach 0 is not drawn; and it is below 1, so that u times the last sum is below that sum, however it was
// rounded. Gumbel noise of that precision, with two logarithms for each class and draw, takes four times as long for
// one draw of 10,000 classes, and more for several.
template <auto... Draws, class X>
constexpr auto draw_classes(caller where, const X& logits) {
  constexpr std::int64_t axis = X::rank - 1;
  const auto probability = call<ops::softmax, ops::axis_attrs{axis}>(where, widened(where, logits));
  const auto sums = call<ops::cumsum, ops::cumsum::attrs{axis, false, false}>(where, cast<double>(probability, where));
  const auto u = random_node<ops::random_uniform, changed<drawn<Draws...>, X, double>>(
      where, *logits.graph, true, ops::random_uniform::attrs{0x1p-53, 1});
  const auto first_above = [&](const auto& all) {
    const auto level = mul(u, reduce_max<-1>(all, keepdims, where), where);
    return call<ops::argmax, ops::argmax::attrs{decltype(u)::rank - 1}>(where, greater(all, level, where));
  };
  if constexpr (sizeof...(Draws) == 0)
    return first_above(sums);
  else
    return first_above(expand_dims<-2>(sums, where));  // [..., 1, classes]
}

template <auto... Draws, any_tensor X>
constexpr auto categorical(const X& logits, caller where) {
  using operand = tensor_t<X>;
  constexpr problem why = !floating_tensor<X>                                             ? problem::needs_floating
                          : operand::rank == 0                                            ? problem::operand_rank
                          : operand::rank + static_cast<int>(sizeof...(Draws)) > max_rank ? problem::rank_too_high
                                                                                          : problem::none;
  if constexpr (why == problem::none) {
    return draw_classes<Draws...>(where, as_tensor(logits));
  } else {
    mistake<why, operand>();
    return tensor<std::int64_t>{logits.graph, logits.id};
  }
}

}  // namespace detail

// A class, from 0 on, for each row along the last axis, drawn with the probabilities softmax(logits): int64. One whose
// logit is -inf is never drawn. random_categorical<5>(logits) draws five for each row, in a new last axis.
template <any_tensor X>
constexpr auto random_categorical(const X& logits, caller where = {}) {
  return detail::categorical(logits, where);
}
template <auto Draws, any_tensor X>
constexpr auto random_categorical(const X& logits, caller where = {}) {
  return detail::categorical<Draws>(logits, where);
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_OF_SOURCE(
    random_uniform,
    "random_uniform takes an element type and extents as template arguments, and the graph, as in random_uniform<float, batch, 8>(g)")
FLOWGRAPH_MISUSE_OF_SOURCE(
    random_normal,
    "random_normal takes an element type and extents as template arguments, and the graph, as in random_normal<float, batch, 8>(g)")
FLOWGRAPH_MISUSE_OF_SOURCE(
    truncated_normal,
    "truncated_normal takes an element type and extents as template arguments, and the graph, as in truncated_normal<float, batch, 8>(g)")
FLOWGRAPH_MISUSE_OF_SOURCE(
    bernoulli,
    "bernoulli takes an element type and extents as template arguments, and the graph, as in bernoulli<float, batch, 8>(g)")
FLOWGRAPH_MISUSE(random_categorical, 2, no_tensor_first,
                 "random_categorical takes logits, as in random_categorical(logits)")

}  // namespace flowgraph
