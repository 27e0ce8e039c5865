// Elements by their positions. Indices are int32 or int64; one outside its axis stops the step with an error.
#pragma once
#include <flowgraph/ops/gather.hpp>
#include "random.hpp"
#include "reshape.hpp"

namespace flowgraph {

// x's shape with the axis replaced by the shape of the indices: gather<0>(table, rows).
template <int Axis = 0, any_tensor T, any_tensor I>
constexpr auto gather(const T& x, const I& indices, caller where = {}) {
  constexpr ops::gather_attrs attributes{detail::axis_of<tensor_t<T>, Axis>()};
  return detail::call<ops::gather, attributes>(where, detail::as_tensor(x), detail::as_tensor(indices));
}

// The last axis of the indices is a position in x: [n, 2] picks n elements of a matrix.
template <any_tensor T, any_tensor I>
constexpr auto gather_nd(const T& x, const I& indices, caller where = {}) {
  return detail::call<ops::gather_nd>(where, detail::as_tensor(x), detail::as_tensor(indices));
}

// scatter_nd<10, 4>(indices, rows): zeros of this shape with every update added at its position.
template <auto... E, any_tensor I, any_tensor U>
constexpr auto scatter_nd(const I& indices, const U& updates, caller where = {}) {
  using result = tensor<element_t<U>, detail::canonical<E>()...>;
  return detail::call<ops::scatter_nd, no_attrs{}, result>(where, detail::as_tensor(indices),
                                                           detail::as_tensor(updates));
}

// y[i, j] = x[i, indices[i, j]] for axis 1 of a matrix: x and indices differ in that axis only.
template <int Axis = -1, any_tensor T, any_tensor I>
constexpr auto take_along_axis(const T& x, const I& indices, caller where = {}) {
  constexpr ops::gather_attrs attributes{detail::axis_of<tensor_t<T>, Axis>()};
  return detail::call<ops::take_along_axis, attributes>(where, detail::as_tensor(x), detail::as_tensor(indices));
}

// NumPy's form with three operands: a where the condition is true, b elsewhere. The form with one, whose result has
// as many rows as there are true elements, can't have a type.
template <any_tensor C, class A, class B>
  requires detail::tensor_pair<A, B>
constexpr auto where(const C& condition, const A& a, const B& b, caller line = {}) {
  return select(condition, a, b, line);
}

// The first axis in a random order, another one in every step.
template <any_tensor T>
constexpr auto shuffle(const T& x, caller where = {}) {
  if constexpr (rank_v<T> == 0) {
    detail::mistake<problem::operand_rank, tensor_t<T>>();
    return detail::as_tensor(x);
  } else {
    using order = tensor<std::int64_t, extent_v<0, T>>;
    return gather<0>(x, detail::random_node<ops::random_permutation, order>(where, *x.graph, true), where);
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(gather, 3, not_two_tensors_first,
                 "gather takes a tensor and a tensor of indices, as in gather<0>(table, rows)")
FLOWGRAPH_MISUSE(gather_nd, 3, not_two_tensors_first,
                 "gather_nd takes a tensor and a tensor of indices, as in gather_nd(x, indices)")
FLOWGRAPH_MISUSE(
    scatter_nd, 3, not_two_tensors_first,
    "scatter_nd takes extents as template arguments, then indices and updates, as in scatter_nd<10, 4>(indices, rows)")
FLOWGRAPH_MISUSE(take_along_axis, 3, not_two_tensors_first,
                 "take_along_axis takes a tensor and a tensor of indices, as in take_along_axis<1>(x, indices)")
FLOWGRAPH_MISUSE(where, 4, not_choice_first,
                 "where takes a boolean tensor, then two tensors or a tensor and a number, as in where(x > 0, x, y)")
FLOWGRAPH_MISUSE(shuffle, 2, no_tensor_first, "shuffle takes a tensor, as in shuffle(x)")

}  // namespace flowgraph
