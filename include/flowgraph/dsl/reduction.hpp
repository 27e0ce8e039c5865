// Reductions over axes: reduce_sum(x) over all, reduce_sum<1>(x) over one, reduce_sum<0, -1>(x, fg::keepdims) over
// two that stay with extent 1.
#pragma once
#include <cstdint>

#include <flowgraph/ops/size.hpp>
#include "axes.hpp"
#include "elementwise.hpp"

namespace flowgraph {

namespace detail {

template <class Op, bool Keep, int... Axes, class T>
constexpr auto reduce(source where, T x) {
  return call<Op, ops::reduce_attrs{axis_mask<T, Axes...>(), Keep}>(where, x);
}

// The number of elements under a mask of axes, -1 where a named extent takes part.
template <class T>
constexpr std::int64_t static_count(std::int64_t mask) {
  std::int64_t n = 1;
  for (int i = 0; i < T::rank; ++i)
    if ((mask >> i) & 1) n = T::shape.number[i] < 0 || n < 0 ? -1 : n * T::shape.number[i];
  return n;
}

// That number as a scalar of T's element type.
template <std::int64_t Mask, class T>
constexpr auto count_tensor(source where, T x) {
  using scalar = tensor<typename T::element_type>;
  if constexpr (constexpr std::int64_t n = static_count<T>(Mask); n >= 0)
    return literal_tensor<typename T::element_type>(where, *x.graph, n);
  else
    return call<ops::size, ops::size::attrs{Mask}, scalar>(where, x);
}

template <bool Keep, int... Axes, class T>
constexpr auto mean(source where, T x) {
  const auto sum = reduce<ops::reduce_sum, Keep, Axes...>(where, x);
  if constexpr (!is_floating(dtype_of<typename T::element_type>)) {
    mistake<problem::needs_floating, T>();
    return sum;
  } else {
    return call<ops::div>(where, sum, count_tensor<axis_mask<T, Axes...>()>(where, x));
  }
}

}  // namespace detail

#define FLOWGRAPH_REDUCTION(name)                                                  \
  template <int... Axes, any_tensor T>                                             \
  constexpr auto name(const T& x, caller where = {}) {                             \
    return detail::reduce<ops::name, false, Axes...>(where, detail::as_tensor(x)); \
  }                                                                                \
  template <int... Axes, any_tensor T>                                             \
  constexpr auto name(const T& x, keepdims_t, caller where = {}) {                 \
    return detail::reduce<ops::name, true, Axes...>(where, detail::as_tensor(x));  \
  }
FLOWGRAPH_REDUCTION(reduce_sum)
#undef FLOWGRAPH_REDUCTION

template <int... Axes, any_tensor T>
constexpr auto reduce_mean(const T& x, caller where = {}) {
  return detail::mean<false, Axes...>(where, detail::as_tensor(x));
}
template <int... Axes, any_tensor T>
constexpr auto reduce_mean(const T& x, keepdims_t, caller where = {}) {
  return detail::mean<true, Axes...>(where, detail::as_tensor(x));
}

}  // namespace flowgraph
