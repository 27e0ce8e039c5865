// What networks are made of beyond products: probabilities and losses.
#pragma once
#include <flowgraph/ops/softmax.hpp>
#include "elementwise.hpp"

namespace flowgraph {

namespace detail {

// An axis of T's type counted from 0; negative ones count from the back.
template <int Axis, class T>
constexpr int axis_of() {
  if constexpr (Axis < -rank_v<T> || Axis >= rank_v<T>) {
    mistake<problem::axis_out_of_range, axes<Axis>, tensor_t<T>>();
    return 0;
  } else {
    return Axis < 0 ? Axis + rank_v<T> : Axis;
  }
}

}  // namespace detail

template <int Axis = -1, any_tensor T>
constexpr auto softmax(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<Axis, T>();
  return detail::call<ops::softmax, ops::axis_attrs{axis}>(where, detail::as_tensor(x));
}

template <int Axis = -1, any_tensor T>
constexpr auto log_softmax(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<Axis, T>();
  return detail::call<ops::log_softmax, ops::axis_attrs{axis}>(where, detail::as_tensor(x));
}

// The loss of each row. Labels are class numbers (int32 or int64, the shape of the logits without its last axis),
// or probabilities of each class (the shape of the logits).
template <any_tensor X, any_tensor L>
constexpr auto softmax_cross_entropy_with_logits(const X& logits, const L& labels, caller where = {}) {
  if constexpr (!floating_tensor<L>) {
    return detail::call<ops::sparse_softmax_cross_entropy>(where, detail::as_tensor(logits), detail::as_tensor(labels));
  } else {
    if constexpr (tensor_t<X>::shape.hash != tensor_t<L>::shape.hash)
      detail::mistake<problem::same_shape, tensor_t<X>, tensor_t<L>>();
    // -sum(labels log_softmax): log_softmax keeps what exp would lose, and its gradient is softmax - labels.
    const auto likelihood = mul(labels, log_softmax(logits, where), where);
    constexpr std::int64_t last = rank_v<X> - 1;
    const auto sum = detail::call<ops::reduce_sum, ops::reduce_attrs{std::int64_t{1} << last, 0}>(where, likelihood);
    return neg(sum, where);
  }
}

}  // namespace flowgraph
