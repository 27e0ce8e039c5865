// Tensors that no feed is needed for: constants, ranges, marked classes.
#pragma once
#include <cstdint>

#include "reshape.hpp"

namespace flowgraph {

template <element T, auto... E>
constexpr auto fill(graph& g, T value, caller where = {}) {
  return g.constant<T, E...>(value, where);
}
template <element T, auto... E>
constexpr auto zeros(graph& g, caller where = {}) {
  return g.constant<T, E...>(T(0), where);
}
template <element T, auto... E>
constexpr auto ones(graph& g, caller where = {}) {
  return g.constant<T, E...>(T(1), where);
}

// Of x's shape and element type.
template <any_tensor T>
constexpr auto zeros_like(const T& x, caller where = {}) {
  return detail::source_node<ops::constant, tensor_t<T>>(where, *x.graph, ops::constant::attrs{0});
}
template <any_tensor T>
constexpr auto ones_like(const T& x, caller where = {}) {
  return detail::source_node<ops::constant, tensor_t<T>>(where, *x.graph, ops::constant::attrs{1});
}

// range<float, 5>(g, 0, 0.25): so many numbers, from start on by step. The count may be a named extent.
template <element T, auto Count>
constexpr auto range(graph& g, double start, double step, caller where = {}) {
  using result = tensor<T, detail::canonical<Count>()>;
  using rule = detail::typed_rule<ops::range, ops::range::attrs{}, result, 0>;
  if constexpr (rule::result.why != problem::none) detail::mistake<rule::result.why, result>();
  return detail::source_node<ops::range, result>(where, g.data(), ops::range::attrs{start, step});
}
// range<int, 5>(g) and range<int, batch>(g): 0, 1, 2, ...
template <element T, auto Count>
constexpr auto range(graph& g, caller where = {}) {
  return range<T, Count>(g, 0, 1, where);
}
// range<int, 2, 11, 3>(g): 2, 5, 8; without the limit.
template <element T, std::int64_t Start, std::int64_t Limit, std::int64_t Step = 1>
constexpr auto range(graph& g, caller where = {}) {
  static_assert(Step != 0, "range: the step must not be 0");
  constexpr std::int64_t distance = Step > 0 ? Limit - Start : Start - Limit, step = Step > 0 ? Step : -Step;
  constexpr std::int64_t count = distance <= 0 ? 0 : (distance + step - 1) / step;
  return range<T, count>(g, static_cast<double>(Start), static_cast<double>(Step), where);
}

namespace detail {

template <std::int64_t Extent>
struct appended {
  static constexpr extents apply(symbols&, const extents& e) {
    extents r = e;
    if (r.rank < max_rank) r.push(Extent);
    return r;
  }
};

}  // namespace detail

// A new last axis of this depth: on at the index, off elsewhere. An index outside of it gives a row of off.
template <int Depth, element T = float, any_tensor I>
constexpr auto one_hot(const I& indices, double on = 1, double off = 0, caller where = {}) {
  if constexpr (rank_v<I> == max_rank) detail::mistake<problem::rank_too_high, tensor_t<I>>();
  using result = detail::changed<detail::appended<Depth>, tensor_t<I>, T>;
  return detail::call_with<ops::one_hot, result>(where, {on, off}, detail::as_tensor(indices));
}

}  // namespace flowgraph
