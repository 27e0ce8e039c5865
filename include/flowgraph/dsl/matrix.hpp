// Products of matrices.
#pragma once
#include <flowgraph/ops/matmul.hpp>
#include "elementwise.hpp"

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

}  // namespace flowgraph
