// Order along an axis.
#pragma once
#include <tuple>

#include <flowgraph/language/call_many.hpp>
#include <flowgraph/ops/sort.hpp>
#include "gather.hpp"

namespace flowgraph {

enum class order : bool { ascending, descending };
inline constexpr order ascending = order::ascending;
inline constexpr order descending = order::descending;

// The positions that sort x along an axis: int64. Equal elements keep their order; NaN comes last.
template <int Axis = -1, any_tensor T>
constexpr auto argsort(const T& x, order o = ascending, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  return detail::call_with<ops::argsort>(where, {axis, o == descending}, detail::as_tensor(x));
}
template <int Axis = -1, any_tensor T>
constexpr auto sort(const T& x, order o = ascending, caller where = {}) {
  return take_along_axis<Axis>(x, argsort<Axis>(x, o, where), where);
}

// auto [values, positions] = top_k<5>(x): the greatest along the last axis, greatest first.
template <int K, any_tensor T>
constexpr auto top_k(const T& x, caller where = {}) {
  return detail::call_many<ops::top_k, ops::top_k::attrs{K}>(where, detail::as_tensor(x));
}

// Where the greatest and the least are along an axis, which the result (int64) does not have.
template <int Axis, any_tensor T>
constexpr auto argmax(const T& x, caller where = {}) {
  constexpr ops::argmax::attrs attributes{detail::axis_of<tensor_t<T>, Axis>()};
  return detail::call<ops::argmax, attributes>(where, detail::as_tensor(x));
}
template <int Axis, any_tensor T>
constexpr auto argmin(const T& x, caller where = {}) {
  constexpr ops::argmin::attrs attributes{detail::axis_of<tensor_t<T>, Axis>()};
  return detail::call<ops::argmin, attributes>(where, detail::as_tensor(x));
}

// Which elements each sum of cumsum takes.
struct cumsum_options {
  bool exclusive = false;  // without the element itself
  bool reverse = false;    // from the other end
};

// y[i] = x[0] + ... + x[i] along an axis; cumsum<1>(x, {.exclusive = true}).
template <int Axis, any_tensor T>
constexpr auto cumsum(const T& x, cumsum_options options = {}, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  return detail::call_with<ops::cumsum>(where, {axis, options.exclusive, options.reverse}, detail::as_tensor(x));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_BEYOND(
    argsort, 3, (detail::no_tensor_first<X...> || detail::second_is_no<order, X...>),
    "argsort takes a tensor, and an axis as a template argument, as in argsort<1>(x, fg::descending)")
FLOWGRAPH_MISUSE_BEYOND(sort, 3, (detail::no_tensor_first<X...> || detail::second_is_no<order, X...>),
                        "sort takes a tensor, and an axis as a template argument, as in sort<1>(x, fg::descending)")
FLOWGRAPH_MISUSE_BEYOND(top_k, 2, sizeof...(Stated) != 1 || detail::no_tensor_first<X...>,
                        "top_k takes a count as a template argument and a tensor, as in top_k<5>(x)")
FLOWGRAPH_MISUSE_BEYOND(argmax, 2, sizeof...(Stated) != 1 || detail::no_tensor_first<X...>,
                        "argmax takes an axis as a template argument and a tensor, as in argmax<1>(x)")
FLOWGRAPH_MISUSE_BEYOND(argmin, 2, sizeof...(Stated) != 1 || detail::no_tensor_first<X...>,
                        "argmin takes an axis as a template argument and a tensor, as in argmin<1>(x)")
FLOWGRAPH_MISUSE_BEYOND(cumsum, 3,
                        (sizeof...(Stated) != 1 || detail::no_tensor_first<X...> ||
                         detail::second_is_no<cumsum_options, X...>),
                        "cumsum takes an axis as a template argument and a tensor, as in cumsum<1>(x)")

}  // namespace flowgraph
