// Random numbers in a graph: random_normal<float, batch, 8>(g). New ones in every step, the same ones for the same
// seed on any number of threads. Dropout and noise layers are made of these.
#pragma once
#include <cstdint>

#include <flowgraph/ops/random.hpp>
#include "graph.hpp"

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

}  // namespace flowgraph
