// Reductions over axes: reduce_sum(x) over all, reduce_sum<1>(x) over one, reduce_sum<0, -1>(x, fg::keepdims) over
// two that stay with extent 1.
#pragma once
#include <cstdint>

#include <flowgraph/language/axes.hpp>
#include <flowgraph/language/elementwise.hpp>
#include <flowgraph/ops/reduction.hpp>
#include <flowgraph/ops/size.hpp>
#include "precision.hpp"

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
  const auto wide = widened(where, x);  // neither the sum nor the count may have a place in 16 bits
  const auto sum = reduce<ops::reduce_sum, Keep, Axes...>(where, wide);
  if constexpr (!is_floating(dtype_of<typename T::element_type>)) {
    mistake<problem::needs_floating, T>();
    return sum;
  } else {
    return narrowed<T>(where, call<ops::div>(where, sum, count_tensor<axis_mask<T, Axes...>()>(where, wide)));
  }
}

}  // namespace detail

namespace detail {

// Axes are numbers; between the tensor and the line of the call stands nothing but fg::keepdims.
template <auto... Stated>
inline constexpr bool stated_axes = (std::is_convertible_v<decltype(Stated), int> && ...);
template <class... X>
concept not_kept = no_tensor_first<X...> || (sizeof...(X) == 3 && second_is_no<keepdims_t, X...>);

}  // namespace detail

#define FLOWGRAPH_MISUSE_OF_REDUCTION(name, most, concept_of_arguments)                                          \
  FLOWGRAPH_MISUSE_BEYOND(                                                                                       \
      name, most, (flowgraph::detail::concept_of_arguments<X...> || !flowgraph::detail::stated_axes<Stated...>), \
      #name " takes a tensor, and axes as template arguments, as in " #name "<1>(x) and " #name                  \
            "<1>(x, fg::keepdims)")                                                                              \
  FLOWGRAPH_MISUSE_OF_BRACES(name, #name " takes axes as template arguments, as in " #name "<0, 1>(x)")
#define FLOWGRAPH_REDUCTION(name)                                                  \
  template <int... Axes, any_tensor T>                                             \
  constexpr auto name(const T& x, caller where = {}) {                             \
    return detail::reduce<ops::name, false, Axes...>(where, detail::as_tensor(x)); \
  }                                                                                \
  template <int... Axes, any_tensor T>                                             \
  constexpr auto name(const T& x, keepdims_t, caller where = {}) {                 \
    return detail::reduce<ops::name, true, Axes...>(where, detail::as_tensor(x));  \
  }                                                                                \
  FLOWGRAPH_MISUSE_OF_REDUCTION(name, 3, not_kept)
FLOWGRAPH_REDUCTION(reduce_sum)
FLOWGRAPH_REDUCTION(reduce_max)
FLOWGRAPH_REDUCTION(reduce_min)
FLOWGRAPH_REDUCTION(reduce_prod)
FLOWGRAPH_REDUCTION(reduce_any)
FLOWGRAPH_REDUCTION(reduce_all)
FLOWGRAPH_REDUCTION(logsumexp)
#undef FLOWGRAPH_REDUCTION

template <int... Axes, any_tensor T>
constexpr auto reduce_mean(const T& x, caller where = {}) {
  return detail::mean<false, Axes...>(where, detail::as_tensor(x));
}
template <int... Axes, any_tensor T>
constexpr auto reduce_mean(const T& x, keepdims_t, caller where = {}) {
  return detail::mean<true, Axes...>(where, detail::as_tensor(x));
}

// Which length norm measures: the sum of magnitudes, the Euclidean one, or the largest magnitude.
enum class norm_kind { l1, l2, max };

namespace detail {

template <bool Keep, int... Axes, class T>
constexpr auto norm(source where, norm_kind kind, T x) {
  using result = decltype(reduce<ops::norm, Keep, Axes...>(where, x));
  if (kind == norm_kind::l1) return result{reduce<ops::reduce_sum, Keep, Axes...>(where, call<ops::abs>(where, x))};
  if (kind == norm_kind::max) return result{reduce<ops::reduce_max, Keep, Axes...>(where, call<ops::abs>(where, x))};
  return reduce<ops::norm, Keep, Axes...>(where, x);
}

}  // namespace detail

// norm<1>(x), norm<1>(x, fg::norm_kind::l1), each with fg::keepdims behind it.
template <int... Axes, any_tensor T>
constexpr auto norm(const T& x, norm_kind kind = norm_kind::l2, caller where = {}) {
  return detail::norm<false, Axes...>(where, kind, detail::as_tensor(x));
}
template <int... Axes, any_tensor T>
constexpr auto norm(const T& x, norm_kind kind, keepdims_t, caller where = {}) {
  return detail::norm<true, Axes...>(where, kind, detail::as_tensor(x));
}
template <int... Axes, any_tensor T>
constexpr auto norm(const T& x, keepdims_t, caller where = {}) {
  return detail::norm<true, Axes...>(where, norm_kind::l2, detail::as_tensor(x));
}

// Calls that fit none of these.
namespace detail {
template <class... X>
concept not_measured = no_tensor_first<X...> || (second_is_no<norm_kind, X...> && second_is_no<keepdims_t, X...>);
}
FLOWGRAPH_MISUSE_OF_REDUCTION(reduce_mean, 3, not_kept)
FLOWGRAPH_MISUSE_OF_REDUCTION(norm, 4, not_measured)
#undef FLOWGRAPH_MISUSE_OF_REDUCTION

}  // namespace flowgraph
