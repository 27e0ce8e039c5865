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

}  // namespace flowgraph
