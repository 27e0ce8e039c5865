// Linear algebra on the last two axes, batched over the leading ones.
#pragma once
#include <cstdint>

#include <flowgraph/ops/linalg.hpp>
#include "matrix.hpp"
#include "reduction.hpp"
#include "reshape.hpp"

namespace flowgraph {

// [..., n, n] -> [..., n, n]. A singular matrix fails the step with an execution_error.
template <any_tensor T>
constexpr auto matrix_inverse(const T& a, caller where = {}) {
  return detail::call<ops::matrix_inverse>(where, detail::as_tensor(a));
}

// [..., n, n] -> [...]
template <any_tensor T>
constexpr auto matrix_determinant(const T& a, caller where = {}) {
  return detail::call<ops::matrix_determinant>(where, detail::as_tensor(a));
}

// The lower triangular L with L LT = a. Reads the symmetric part of a; if that is not positive definite, the step
// fails with an execution_error.
template <any_tensor T>
constexpr auto cholesky(const T& a, caller where = {}) {
  return detail::call<ops::cholesky>(where, detail::as_tensor(a));
}

enum class triangle { lower, upper };
enum class adjoint : bool { no, yes };

namespace detail {

// A vector on the right is a matrix of one column, and so is the result.
template <class Op, class A, class B>
constexpr auto solve(source where, const typename Op::attrs& attributes, A a, B b) {
  if constexpr (A::rank == 2 && B::rank == 1) {
    const caller line(where);
    return squeeze<1>(call_with<Op>(where, attributes, a, expand_dims<1>(b, line)), line);
  } else {
    return call_with<Op>(where, attributes, a, b);
  }
}

}  // namespace detail

// x with a x = b, or aT x = b for fg::adjoint::yes. b is [..., n, k], or a vector [n] next to a single matrix. A
// singular matrix fails the step with an execution_error.
template <any_tensor A, any_tensor B>
constexpr auto solve(const A& a, const B& b, adjoint transposed = adjoint::no, caller where = {}) {
  return detail::solve<ops::solve>(where, {transposed == adjoint::yes}, detail::as_tensor(a), detail::as_tensor(b));
}

// As solve, where only one triangle of a is read.
template <any_tensor A, any_tensor B>
constexpr auto triangular_solve(const A& a, const B& b, triangle half = triangle::lower,
                                adjoint transposed = adjoint::no, caller where = {}) {
  return detail::solve<ops::triangular_solve>(where, {half == triangle::lower, transposed == adjoint::yes},
                                              detail::as_tensor(a), detail::as_tensor(b));
}

// From vector to matrix: [..., n] on the diagonal of [..., n, n].
template <any_tensor T>
constexpr auto diag(const T& x, caller where = {}) {
  return detail::call<ops::diag>(where, detail::as_tensor(x));
}

// From matrix to vector: the diagonal of [..., n, n].
template <any_tensor T>
constexpr auto diag_part(const T& x, caller where = {}) {
  return detail::call<ops::diag_part>(where, detail::as_tensor(x));
}

// The sum of the diagonal: [..., n, n] -> [...].
template <any_tensor T>
constexpr auto trace(const T& x, caller where = {}) {
  return reduce_sum<-1>(diag_part(x, where), where);
}

// The matrix with zeros outside a band: `lower` diagonals below the main one and `upper` above it; negative: all.
// band_part(x, -1, 0) is the lower triangle.
template <any_tensor T>
constexpr auto band_part(const T& x, std::int64_t lower, std::int64_t upper, caller where = {}) {
  return detail::call_with<ops::band_part>(where, {lower, upper}, detail::as_tensor(x));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(matrix_inverse, 2, no_tensor_first, "matrix_inverse takes a tensor, as in matrix_inverse(x)")
FLOWGRAPH_MISUSE(matrix_determinant, 2, no_tensor_first,
                 "matrix_determinant takes a tensor, as in matrix_determinant(x)")
FLOWGRAPH_MISUSE(cholesky, 2, no_tensor_first, "cholesky takes a tensor, as in cholesky(x)")
FLOWGRAPH_MISUSE(diag, 2, no_tensor_first, "diag takes a tensor, as in diag(x)")
FLOWGRAPH_MISUSE(diag_part, 2, no_tensor_first, "diag_part takes a tensor, as in diag_part(x)")
FLOWGRAPH_MISUSE(trace, 2, no_tensor_first, "trace takes a tensor, as in trace(x)")
FLOWGRAPH_MISUSE_BEYOND(band_part, 4,
                        (sizeof...(X) < 3 || detail::no_tensor_first<X...> ||
                         detail::second_is_no<std::int64_t, X...> || detail::third_is_no<std::int64_t, X...>),
                        "band_part takes a tensor and two numbers of diagonals, as in band_part(x, -1, 0)")
FLOWGRAPH_MISUSE_BEYOND(
    solve, 4, (detail::not_two_tensors_first<X...> || detail::third_is_no<adjoint, X...>),
    "solve takes a matrix, a right-hand side and an fg::adjoint, as in solve(a, b, fg::adjoint::yes)")
FLOWGRAPH_MISUSE_BEYOND(
    triangular_solve, 5, (detail::not_two_tensors_first<X...> || detail::third_is_no<triangle, X...>),
    "triangular_solve takes a matrix, a right-hand side and an fg::triangle, as in triangular_solve(a, b, fg::triangle::upper)")

}  // namespace flowgraph
