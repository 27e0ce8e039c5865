// Element-wise functions on handles. Those that are one op call it; the others are made of ops and become one
// fused kernel anyway.
#pragma once
#include "graph.hpp"

namespace flowgraph {

namespace detail {

template <any_tensor T>
constexpr tensor_t<T> as_tensor(const T& t) {
  return t;
}

// Either operand may be a number; the other says the element type and the graph.
template <class Op, class A, class B>
constexpr auto call_binary(source where, const A& a, const B& b) {
  if constexpr (!any_tensor<A>)
    return call<Op>(where, literal_tensor<element_t<B>>(where, *b.graph, a), as_tensor(b));
  else if constexpr (!any_tensor<B>)
    return call<Op>(where, as_tensor(a), literal_tensor<element_t<A>>(where, *a.graph, b));
  else
    return call<Op>(where, as_tensor(a), as_tensor(b));
}

template <class A, class B>
concept tensor_pair = (any_tensor<A> && any_tensor<B>) || (any_tensor<A> && number<B>) || (number<A> && any_tensor<B>);

}  // namespace detail

#define FLOWGRAPH_UNARY_FUNCTION(name, misuse)                   \
  template <any_tensor T>                                        \
  constexpr auto name(const T& x, caller where = {}) {           \
    return detail::call<ops::name>(where, detail::as_tensor(x)); \
  }                                                              \
  FLOWGRAPH_MISUSE(name, 2, misuse, #name " takes a tensor, as in " #name "(x)")
#define FLOWGRAPH_FUNCTION(name) FLOWGRAPH_UNARY_FUNCTION(name, neither_tensor_nor_number_first)
FLOWGRAPH_FUNCTION(abs)
FLOWGRAPH_FUNCTION(exp)
FLOWGRAPH_FUNCTION(log)
FLOWGRAPH_FUNCTION(log1p)
FLOWGRAPH_FUNCTION(expm1)
FLOWGRAPH_FUNCTION(sqrt)
FLOWGRAPH_FUNCTION(sin)
FLOWGRAPH_FUNCTION(cos)
FLOWGRAPH_FUNCTION(tan)
FLOWGRAPH_FUNCTION(tanh)
FLOWGRAPH_FUNCTION(erf)
FLOWGRAPH_FUNCTION(floor)
FLOWGRAPH_FUNCTION(ceil)
FLOWGRAPH_FUNCTION(round)
FLOWGRAPH_FUNCTION(isnan)
FLOWGRAPH_FUNCTION(isfinite)
#undef FLOWGRAPH_FUNCTION
#define FLOWGRAPH_FUNCTION(name) FLOWGRAPH_UNARY_FUNCTION(name, no_tensor_first)
FLOWGRAPH_FUNCTION(neg)
FLOWGRAPH_FUNCTION(sign)
FLOWGRAPH_FUNCTION(rsqrt)
FLOWGRAPH_FUNCTION(square)
FLOWGRAPH_FUNCTION(reciprocal)
FLOWGRAPH_FUNCTION(sigmoid)
FLOWGRAPH_FUNCTION(softplus)
FLOWGRAPH_FUNCTION(relu)
FLOWGRAPH_FUNCTION(logical_not)
#undef FLOWGRAPH_FUNCTION
#undef FLOWGRAPH_UNARY_FUNCTION

#define FLOWGRAPH_FUNCTION(name)                                   \
  template <class A, class B>                                      \
    requires detail::tensor_pair<A, B>                             \
  constexpr auto name(const A& a, const B& b, caller where = {}) { \
    return detail::call_binary<ops::name>(where, a, b);            \
  }                                                                \
  FLOWGRAPH_MISUSE(name, 3, neither_operands_nor_numbers_first,    \
                   #name " takes two tensors, or a tensor and a number, as in " #name "(a, b)")
FLOWGRAPH_FUNCTION(add)
FLOWGRAPH_FUNCTION(sub)
FLOWGRAPH_FUNCTION(mul)
FLOWGRAPH_FUNCTION(div)
FLOWGRAPH_FUNCTION(floordiv)
FLOWGRAPH_FUNCTION(mod)
FLOWGRAPH_FUNCTION(pow)
FLOWGRAPH_FUNCTION(maximum)
FLOWGRAPH_FUNCTION(minimum)
FLOWGRAPH_FUNCTION(equal)
FLOWGRAPH_FUNCTION(not_equal)
FLOWGRAPH_FUNCTION(less)
FLOWGRAPH_FUNCTION(less_equal)
FLOWGRAPH_FUNCTION(greater)
FLOWGRAPH_FUNCTION(greater_equal)
FLOWGRAPH_FUNCTION(logical_and)
FLOWGRAPH_FUNCTION(logical_or)
FLOWGRAPH_FUNCTION(logical_xor)
#undef FLOWGRAPH_FUNCTION

// condition ? a : b, element by element, broadcasting all three.
template <any_tensor C, class A, class B>
  requires detail::tensor_pair<A, B>
constexpr auto select(const C& condition, const A& a, const B& b, caller where = {}) {
  const auto c = detail::as_tensor(condition);
  if constexpr (!any_tensor<A>)
    return detail::call<ops::select>(where, c, detail::literal_tensor<element_t<B>>(where, *c.graph, a),
                                     detail::as_tensor(b));
  else if constexpr (!any_tensor<B>)
    return detail::call<ops::select>(where, c, detail::as_tensor(a),
                                     detail::literal_tensor<element_t<A>>(where, *c.graph, b));
  else
    return detail::call<ops::select>(where, c, detail::as_tensor(a), detail::as_tensor(b));
}

// cast<float>(labels)
template <element To, any_tensor T>
constexpr auto cast(const T& x, caller where = {}) {
  return detail::call<ops::cast, no_attrs{}, tensor<To>>(where, detail::as_tensor(x));
}

template <floating_tensor T>
constexpr auto relu6(const T& x, caller where = {}) {
  return minimum(relu(x, where), 6, where);
}
// x above 0, slope * x below.
template <floating_tensor T>
constexpr auto leaky_relu(const T& x, double slope = 0.2, caller where = {}) {
  return select(greater(x, 0, where), x, mul(x, slope, where), where);
}
// x above 0, alpha (exp(x) - 1) below. The exponent never sees a positive x, whose overflow would spoil the gradient.
template <floating_tensor T>
constexpr auto elu(const T& x, double alpha = 1, caller where = {}) {
  const auto below = mul(expm1(minimum(x, 0, where), where), alpha, where);
  return select(greater(x, 0, where), x, below, where);
}
template <floating_tensor T>
constexpr auto selu(const T& x, caller where = {}) {
  return mul(elu(x, 1.6732632423543772, where), 1.0507009873554805, where);
}
// x Phi(x), exact form.
template <floating_tensor T>
constexpr auto gelu(const T& x, caller where = {}) {
  const auto cdf = mul(add(erf(mul(x, 0.7071067811865476, where), where), 1, where), 0.5, where);
  return mul(x, cdf, where);
}
template <floating_tensor T>
constexpr auto silu(const T& x, caller where = {}) {
  return mul(x, sigmoid(x, where), where);
}
template <any_tensor T, class Low, class High>
constexpr auto clip(const T& x, const Low& low, const High& high, caller where = {}) {
  if constexpr (number<Low> && number<High>) {
    x.graph->where = where;
    if (!(static_cast<double>(low) <= static_cast<double>(high))) x.graph->fail(problem::clip_bounds, "clip");
  }
  return minimum(maximum(x, low, where), high, where);
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(select, 4, not_choice_first,
                 "select takes a boolean tensor, then two tensors or a tensor and a number, as in select(x > 0, x, y)")
FLOWGRAPH_MISUSE(relu6, 2, no_floating_tensor_first, "relu6 takes a floating-point tensor, as in relu6(x)")
FLOWGRAPH_MISUSE_BEYOND(leaky_relu, 3, (detail::no_floating_tensor_first<X...> || detail::second_is_no<double, X...>),
                        "leaky_relu takes a floating-point tensor, and a number, as in leaky_relu(x, 0.1)")
FLOWGRAPH_MISUSE_BEYOND(elu, 3, (detail::no_floating_tensor_first<X...> || detail::second_is_no<double, X...>),
                        "elu takes a floating-point tensor, and a number, as in elu(x, 1.0)")
FLOWGRAPH_MISUSE(selu, 2, no_floating_tensor_first, "selu takes a floating-point tensor, as in selu(x)")
FLOWGRAPH_MISUSE(gelu, 2, no_floating_tensor_first, "gelu takes a floating-point tensor, as in gelu(x)")
FLOWGRAPH_MISUSE(silu, 2, no_floating_tensor_first, "silu takes a floating-point tensor, as in silu(x)")
FLOWGRAPH_MISUSE(clip, 4, no_tensor_first, "clip takes a tensor and two bounds, as in clip(x, 0, 1)")
template <detail::nothing_stated = detail::nothing_stated{}, class... X>
  requires detail::about_tensors<X...>
constexpr auto cast(const X&... x) {
  if constexpr (!(detail::is_unknown<X> || ...))
    static_assert(detail::given<X...>, "cast takes the element type as a template argument, as in cast<float>(x)");
  return detail::unknown_among(x...);
}
template <class To, class X>
  requires(element<To> && !any_tensor<X>)
constexpr auto cast(const X& x) {
  if constexpr (!detail::is_unknown<X>) static_assert(detail::given<X>, "cast takes a tensor, as in cast<float>(x)");
  return detail::unknown_among(x);
}

}  // namespace flowgraph
