// The matrix of cofactors of any square matrix, singular ones included.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>

#include "scratch.hpp"

namespace flowgraph::detail {

// c[i][j] = (-1)^(i+j) det(a without row i and column j), both n x n and row-major, n > 0.
//
// Cofactors multiply: cof(AB) = cof(A) cof(B). Elimination with exchange of rows and columns gives PAQ = LU. The
// cofactors of a permutation are itself with its sign, those of L are L^-T, and those of U = [V u; 0 p] are
// det(V) [p V^-1, -V^-1 u; 0, 1]T for any p. The exchange puts the smallest pivots last: V is singular only where the
// rank is below n-1, and then every cofactor is zero.
template <class T>
void write_cofactors(const T* a, std::int64_t n, T* c) {
  const std::int64_t m = n - 1;
  T* const lu = scratch<T>(2 * n * n);
  T* const w = lu + n * n;  // adj(U), then the product, in the order of the pivots
  std::int64_t* const row = scratch<std::int64_t>(2 * n);
  std::int64_t* const column = row + n;
  for (std::int64_t i = 0; i < n * n; ++i) lu[i] = a[i];
  for (std::int64_t i = 0; i < n; ++i) row[i] = column[i] = i;

  T scale = 1;  // det(V) and the signs of both permutations
  for (std::int64_t k = 0; k < m; ++k) {
    std::int64_t r = k, s = k;
    for (std::int64_t i = k; i < n; ++i)
      for (std::int64_t j = k; j < n; ++j)
        if (std::abs(lu[i * n + j]) > std::abs(lu[r * n + s])) {
          r = i;
          s = j;
        }
    if (r != k) {
      for (std::int64_t j = 0; j < n; ++j) std::swap(lu[k * n + j], lu[r * n + j]);
      std::swap(row[k], row[r]);
      scale = -scale;
    }
    if (s != k) {
      for (std::int64_t i = 0; i < n; ++i) std::swap(lu[i * n + k], lu[i * n + s]);
      std::swap(column[k], column[s]);
      scale = -scale;
    }
    const T pivot = lu[k * n + k];
    scale *= pivot;
    if (pivot == 0) break;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = lu[i * n + k] /= pivot;
      for (std::int64_t j = k + 1; j < n; ++j) lu[i * n + j] -= factor * lu[k * n + j];
    }
  }
  if (scale == 0) {
    for (std::int64_t i = 0; i < n * n; ++i) c[i] = 0;
    return;
  }

  // w = scale adj(U): the columns of V w = [p 1, -u], from the last row up.
  const T p = lu[n * n - 1];
  for (std::int64_t i = 0; i < n * n; ++i) w[i] = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    w[i * n + i] = scale * p;
    w[i * n + m] = -scale * lu[i * n + m];
  }
  w[m * n + m] = scale;
  for (std::int64_t i = m; i-- > 0;) {
    for (std::int64_t k = i + 1; k < m; ++k)
      for (std::int64_t j = 0; j < n; ++j) w[i * n + j] -= lu[i * n + k] * w[k * n + j];
    for (std::int64_t j = 0; j < n; ++j) w[i * n + j] /= lu[i * n + i];
  }
  // cof(U) = wT, and L^-T wT = (w L^-1)T: each row x of w becomes x L^-1, from its last element back.
  for (std::int64_t i = 0; i < n; ++i) {
    T* const x = w + i * n;
    for (std::int64_t k = n; k-- > 0;)
      for (std::int64_t j = 0; j < k; ++j) x[j] -= x[k] * lu[k * n + j];
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) c[row[j] * n + column[i]] = w[i * n + j];
}

}  // namespace flowgraph::detail
