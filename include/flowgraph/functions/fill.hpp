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
  return detail::source_node<ops::constant, tensor_t<T>>(where, *x.graph,
                                                         ops::constant::attrs{ops::number_word<element_t<T>>(1)});
}

// range<float, 5>(g, 0, 0.25): so many numbers, from start on by step. The count may be a named extent.
template <element T, auto Count, number Start, number Step>
constexpr auto range(graph& g, Start start, Step step, caller where = {}) {
  using result = tensor<T, detail::canonical<Count>()>;
  using rule = detail::typed_rule<ops::range, ops::range::attrs{}, result, 0>;
  if constexpr (rule::result.why != problem::none) detail::mistake<rule::result.why, result>();
  if constexpr (!is_floating(detail::dtype_of<T>) && (!std::is_integral_v<Start> || !std::is_integral_v<Step>))
    detail::mistake<problem::literal_does_not_fit, result,
                    std::conditional_t<std::is_integral_v<Start>, Step, Start>>();
  return detail::source_node<ops::range, result>(
      where, g.data(), ops::range::attrs{ops::number_word<T>(start), ops::number_word<T>(step)});
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
  return range<T, count>(g, Start, Step, where);
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
template <int Depth, element T = float, any_tensor I, number On = int, number Off = int>
constexpr auto one_hot(const I& indices, On on = 1, Off off = 0, caller where = {}) {
  if constexpr (rank_v<I> == max_rank) detail::mistake<problem::rank_too_high, tensor_t<I>>();
  using result = detail::changed<detail::appended<Depth>, tensor_t<I>, T>;
  return detail::call_with<ops::one_hot, result>(where, {ops::number_word<T>(on), ops::number_word<T>(off)},
                                                 detail::as_tensor(indices));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_OF_SOURCE(
    fill,
    "fill takes an element type and extents as template arguments, and the graph, as in fill<float, 64, 32>(g, 0.5f)")
FLOWGRAPH_MISUSE_OF_SOURCE(
    zeros,
    "zeros takes an element type and extents as template arguments, and the graph, as in zeros<float, 64, 32>(g)")
FLOWGRAPH_MISUSE_OF_SOURCE(
    ones, "ones takes an element type and extents as template arguments, and the graph, as in ones<float, 64, 32>(g)")
FLOWGRAPH_MISUSE_OF_SOURCE(
    range, "range takes an element type and extents as template arguments, and the graph, as in range<int, 5>(g)")
FLOWGRAPH_MISUSE(zeros_like, 2, no_tensor_first, "zeros_like takes a tensor, as in zeros_like(x)")
FLOWGRAPH_MISUSE(ones_like, 2, no_tensor_first, "ones_like takes a tensor, as in ones_like(x)")
FLOWGRAPH_MISUSE_BEYOND(
    one_hot, 4, sizeof...(Stated) != 1 || detail::no_tensor_first<X...>,
    "one_hot takes the number of classes as a template argument and a tensor of indices, as in one_hot<10>(labels)")

}  // namespace flowgraph
