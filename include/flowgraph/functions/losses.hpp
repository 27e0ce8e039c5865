// Probabilities from logits, and what a network is trained to make small.
#pragma once
#include <flowgraph/ops/softmax.hpp>
#include "reduction.hpp"

namespace flowgraph {

namespace detail {

// What is wrong with a prediction and its target. Broadcasting would hide a forgotten axis in a loss.
template <class A, class B>
constexpr problem pair_problem() {
  if constexpr (!floating_tensor<A>)
    return problem::needs_floating;
  else if constexpr (!std::is_same_v<element_t<A>, element_t<B>>)
    return problem::dtypes_differ;
  else
    return tensor_t<A>::shape.hash == tensor_t<B>::shape.hash ? problem::none : problem::same_shape;
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
  } else if constexpr (constexpr problem p = detail::pair_problem<X, L>(); p != problem::none) {
    detail::mistake<p, tensor_t<X>, tensor_t<L>>();
    return reduce_sum<-1>(logits, where);
  } else {
    // -sum(labels log_softmax): log_softmax keeps what exp would lose, and its gradient is softmax - labels.
    return neg(reduce_sum<-1>(mul(labels, log_softmax(logits, where), where), where), where);
  }
}

// The loss of each element for labels between 0 and 1: -z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)), written
// as softplus(x) - x z so that nothing overflows; its gradient is sigmoid(x) - z.
template <any_tensor X, any_tensor L>
constexpr auto sigmoid_cross_entropy_with_logits(const X& logits, const L& labels, caller where = {}) {
  if constexpr (constexpr problem p = detail::pair_problem<X, L>(); p != problem::none) {
    detail::mistake<p, tensor_t<X>, tensor_t<L>>();
    return detail::as_tensor(logits);
  } else {
    return sub(softplus(logits, where), mul(logits, labels, where), where);
  }
}

// sum(x^2) / 2, whose gradient is x.
template <any_tensor T>
constexpr auto l2_loss(const T& x, caller where = {}) {
  if constexpr (!floating_tensor<T>) {
    detail::mistake<problem::needs_floating, tensor_t<T>>();
    return tensor<element_t<T>>{x.graph, x.id};
  } else {
    return mul(reduce_sum(square(x, where), where), 0.5, where);
  }
}

// mean((prediction - target)^2)
template <any_tensor P, any_tensor T>
constexpr auto mse(const P& prediction, const T& target, caller where = {}) {
  if constexpr (constexpr problem p = detail::pair_problem<P, T>(); p != problem::none) {
    detail::mistake<p, tensor_t<P>, tensor_t<T>>();
    return tensor<element_t<P>>{prediction.graph, prediction.id};
  } else {
    return reduce_mean(square(sub(prediction, target, where), where), where);
  }
}

// The mean of e^2/2 where |e| <= delta, delta (|e| - delta/2) beyond. With c = min(|e|, delta) both are
// c (|e| - c/2).
template <any_tensor P, any_tensor T>
constexpr auto huber(const P& prediction, const T& target, double delta = 1, caller where = {}) {
  if constexpr (constexpr problem p = detail::pair_problem<P, T>(); p != problem::none) {
    detail::mistake<p, tensor_t<P>, tensor_t<T>>();
    return tensor<element_t<P>>{prediction.graph, prediction.id};
  } else {
    prediction.graph->where = where;
    if (!(delta > 0)) prediction.graph->fail(problem::parameter_range, "huber");
    const auto size = abs(sub(prediction, target, where), where);
    const auto clipped = minimum(size, delta, where);
    return reduce_mean(mul(clipped, sub(size, mul(clipped, 0.5, where), where), where), where);
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(softmax, 2, no_tensor_first, "softmax takes a tensor, as in softmax(logits)")
FLOWGRAPH_MISUSE(log_softmax, 2, no_tensor_first, "log_softmax takes a tensor, as in log_softmax(logits)")
FLOWGRAPH_MISUSE(
    softmax_cross_entropy_with_logits, 3, not_two_tensors_first,
    "softmax_cross_entropy_with_logits takes logits and labels, as in softmax_cross_entropy_with_logits(logits, labels)")
FLOWGRAPH_MISUSE(
    sigmoid_cross_entropy_with_logits, 3, not_two_tensors_first,
    "sigmoid_cross_entropy_with_logits takes logits and labels, as in sigmoid_cross_entropy_with_logits(logits, labels)")
FLOWGRAPH_MISUSE(l2_loss, 2, no_tensor_first, "l2_loss takes a tensor, as in l2_loss(w)")
FLOWGRAPH_MISUSE(mse, 3, not_two_tensors_first, "mse takes a prediction and a target, as in mse(y, target)")
FLOWGRAPH_MISUSE_BEYOND(huber, 4, (detail::not_two_tensors_first<X...> || detail::third_is_no<double, X...>),
                        "huber takes a prediction, a target and a number, as in huber(y, target, 1.5)")

}  // namespace flowgraph
