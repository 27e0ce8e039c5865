// Products of matrices, and axes in another order.
#pragma once
#include <flowgraph/language/axes.hpp>
#include <flowgraph/language/elementwise.hpp>
#include <flowgraph/ops/matmul.hpp>

namespace flowgraph {

// Which operands of matmul are read transposed: matmul<fg::transpose_a | fg::transpose_b>(a, b).
enum class transposed : int { none = 0, a = 1, b = 2, both = 3 };
inline constexpr transposed transpose_a = transposed::a;
inline constexpr transposed transpose_b = transposed::b;
constexpr transposed operator|(transposed x, transposed y) {
  return static_cast<transposed>(static_cast<int>(x) | static_cast<int>(y));
}

// [..., m, k] [..., k, n] -> [..., m, n]; leading axes broadcast.
template <transposed Flags = transposed::none, any_tensor A, any_tensor B>
constexpr auto matmul(const A& a, const B& b, caller where = {}) {
  constexpr ops::matmul::attrs attributes{static_cast<int>(Flags) & 1, static_cast<int>(Flags) >> 1};
  return detail::call<ops::matmul, attributes>(where, detail::as_tensor(a), detail::as_tensor(b));
}

namespace detail {

template <class T, int... Axes>
constexpr bool is_permutation() {
  if constexpr (sizeof...(Axes) != T::rank || ((Axes < -T::rank || Axes >= T::rank) || ...))
    return false;
  else
    return (0 | ... | (1 << axis_of<T, Axes>())) == (1 << T::rank) - 1;
}

template <class T, int... Axes>
constexpr ops::permutation permutation_of() {
  ops::permutation p{};
  for (int i = 0; i < T::rank; ++i) p.set(i, T::rank - 1 - i);
  if constexpr (sizeof...(Axes) > 0) {
    if constexpr (is_permutation<T, Axes...>()) {
      int i = 0;
      (p.set(i++, axis_of<T, Axes>()), ...);
    } else {
      mistake<problem::permutation, axes<Axes...>, T>();
    }
  }
  return p;
}

}  // namespace detail

// transpose<0, 2, 1>(x): result axis i is axis Axes[i] of x. Without axes their order is reversed.
template <int... Axes, any_tensor T>
constexpr auto transpose(const T& x, caller where = {}) {
  return detail::call<ops::transpose, detail::permutation_of<tensor_t<T>, Axes...>()>(where, detail::as_tensor(x));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(matmul, 3, not_two_tensors_first, "matmul takes two tensors, as in matmul(x, w)")
FLOWGRAPH_MISUSE(transpose, 2, no_tensor_first,
                 "transpose takes a tensor, and axes as template arguments, as in transpose<1, 0>(x)")
FLOWGRAPH_MISUSE_OF_BRACES(transpose, "transpose takes axes as template arguments, as in transpose<1, 0>(x)")

}  // namespace flowgraph
