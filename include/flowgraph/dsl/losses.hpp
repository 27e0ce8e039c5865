// Probabilities from logits, and what a network is trained to make small.
#pragma once
#include <flowgraph/ops/softmax.hpp>
#include "reduction.hpp"

namespace flowgraph {

namespace detail {

// Broadcasting would hide a forgotten axis in a loss.
template <class A, class B>
constexpr void require_same_shape() {
  if constexpr (tensor_t<A>::shape.hash != tensor_t<B>::shape.hash)
    mistake<problem::same_shape, tensor_t<A>, tensor_t<B>>();
}

}  // namespace detail

template <int Axis = -1, any_tensor T>
constexpr auto softmax(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  return detail::call<ops::softmax, ops::axis_attrs{axis}>(where, detail::as_tensor(x));
}

template <int Axis = -1, any_tensor T>
constexpr auto log_softmax(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  return detail::call<ops::log_softmax, ops::axis_attrs{axis}>(where, detail::as_tensor(x));
}

// The loss of each row. Labels are class numbers (int32 or int64, the shape of the logits without its last axis),
// or probabilities of each class (the shape of the logits).
template <any_tensor X, any_tensor L>
constexpr auto softmax_cross_entropy_with_logits(const X& logits, const L& labels, caller where = {}) {
  if constexpr (!floating_tensor<L>) {
    return detail::call<ops::sparse_softmax_cross_entropy>(where, detail::as_tensor(logits), detail::as_tensor(labels));
  } else {
    detail::require_same_shape<X, L>();
    // -sum(labels log_softmax): log_softmax keeps what exp would lose, and its gradient is softmax - labels.
    const auto likelihood = mul(labels, log_softmax(logits, where), where);
    return neg(reduce_sum<-1>(likelihood, where), where);
  }
}

// The loss of each element for labels between 0 and 1: -z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)), written
// as softplus(x) - x z so that nothing overflows; its gradient is sigmoid(x) - z.
template <any_tensor X, any_tensor L>
constexpr auto sigmoid_cross_entropy_with_logits(const X& logits, const L& labels, caller where = {}) {
  detail::require_same_shape<X, L>();
  return sub(softplus(logits, where), mul(logits, labels, where), where);
}

// sum(x^2) / 2, whose gradient is x.
template <any_tensor T>
constexpr auto l2_loss(const T& x, caller where = {}) {
  return mul(reduce_sum(square(x, where), where), 0.5, where);
}

// mean((prediction - target)^2)
template <any_tensor P, any_tensor T>
constexpr auto mse(const P& prediction, const T& target, caller where = {}) {
  detail::require_same_shape<P, T>();
  return reduce_mean(square(sub(prediction, target, where), where), where);
}

// The mean of e^2/2 where |e| <= delta, delta (|e| - delta/2) beyond. With c = min(|e|, delta) both are
// c (|e| - c/2).
template <any_tensor P, any_tensor T>
constexpr auto huber(const P& prediction, const T& target, double delta = 1, caller where = {}) {
  detail::require_same_shape<P, T>();
  prediction.graph->where = where;
  if (!(delta > 0)) prediction.graph->fail(problem::parameter_range, "huber");
  const auto size = abs(sub(prediction, target, where), where);
  const auto clipped = minimum(size, delta, where);
  return reduce_mean(mul(clipped, sub(size, mul(clipped, 0.5, where), where), where), where);
}

}  // namespace flowgraph
