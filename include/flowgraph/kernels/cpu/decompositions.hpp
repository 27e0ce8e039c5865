// Factors of square matrices and what they solve, in blocks: nearly all of the work is products of matrices. Matrices
// are row-major, rows of n elements.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "lane_product.hpp"
#include "row_product.hpp"
#include "runs.hpp"

namespace flowgraph::detail {

inline constexpr std::int64_t factor_block = 32;

template <class T>
matrix_view<const T> as_operand(const T* a, std::int64_t row) {
  return {a, row, 1};
}

// Solves t y = y, t [n, n] a triangle of which only that half is read; y [n, columns], its rows together.
template <class T>
class triangle_solver {
 public:
  // lower: the triangle's elements are where the column is not greater than the row, in t itself; unit: ones are on its
  // diagonal, whatever stands there.
  triangle_solver(const T* t, std::int64_t n, std::int64_t row, bool lower, bool turned, bool unit)
      : n_(n),
        forward_(lower != turned),
        unit_(unit),
        t_{t, turned ? 1 : row, turned ? row : 1} {}

  void solve(T* y, std::int64_t columns) const {
    constexpr std::int64_t few = 8;
    if (columns >= few) return solve_block_by_block(y, columns);
    if (columns == 1) return solve_one(y);
    T* const one = scratch<T, triangle_solver>(n_);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < n_; ++i) one[i] = y[i * columns + j];
      solve_one(one);
      for (std::int64_t i = 0; i < n_; ++i) y[i * columns + j] = one[i];
    }
  }

 private:
  T at(std::int64_t i, std::int64_t k) const { return t_.at[i * t_.row + k * t_.step]; }
  // The k-th element to be solved for.
  std::int64_t element(std::int64_t k) const { return forward_ ? k : n_ - 1 - k; }

  void solve_one(T* y) const {
    for (std::int64_t k = 0; k < n_; ++k) {
      const std::int64_t i = element(k), solved = forward_ ? 0 : i + 1;
      if (t_.step == 1) y[i] -= dot_product(t_.at + i * t_.row + solved, y + solved, k);
      if (!unit_) y[i] /= at(i, i);
      if (t_.step == 1) continue;
      const std::int64_t open = forward_ ? i + 1 : 0;  // a column of the triangle lies together
      add_scaled_run(y + open, t_.at + open + i * t_.step, -y[i], n_ - 1 - k);
    }
  }
  void solve_block_by_block(T* y, std::int64_t columns) const {
    for (std::int64_t done = 0; done < n_; done += factor_block) {
      const std::int64_t count = std::min(factor_block, n_ - done);
      const std::int64_t first = forward_ ? done : n_ - done - count, solved = forward_ ? 0 : n_ - done;
      if (done > 0)
        multiply_matrices<T>(count, columns, done, t_.from(first, solved), as_operand<T>(y + solved * columns, columns),
                             y + first * columns, columns, product_into::subtract);
      for (std::int64_t k = done; k < done + count; ++k) {
        const std::int64_t i = element(k);
        for (std::int64_t l = done; l < k; ++l)
          add_scaled_run(y + i * columns, y + element(l) * columns, -at(i, element(l)), columns);
        if (!unit_) divide_run(y + i * columns, at(i, i), columns);
      }
    }
  }

  std::int64_t n_;
  bool forward_, unit_;
  matrix_view<const T> t_;
};

template <class T>
struct factor_elements;  // uses of scratch memory
struct exchanged_rows;

// PA = LU by elimination with exchange of rows. Its memory is the thread's, until the next one.
template <class T>
class row_exchange_lu {
 public:
  row_exchange_lu(const T* a, std::int64_t n)
      : n_(n),
        lu_(scratch<T, factor_elements<T>>(n * n)),
        from_(scratch<std::int64_t, exchanged_rows>(n)) {
    std::copy_n(a, n * n, lu_);
    for (std::int64_t k = 0; k < n; k += factor_block) {
      const std::int64_t count = std::min(factor_block, n - k), next = k + count;
      eliminate(k, next);
      if (next == n) break;
      T* const right = lu_ + k * n + next;  // beside the block: of U
      for (std::int64_t i = 1; i < count; ++i)
        for (std::int64_t l = 0; l < i; ++l) add_scaled_run(right + i * n, right + l * n, -at(k + i, k + l), n - next);
      multiply_matrices<T>(n - next, n - next, count, as_operand<T>(lu_ + next * n + k, n), as_operand<T>(right, n),
                           lu_ + next * n + next, n, product_into::subtract);
    }
  }

  T determinant() const {
    T product = even_ ? T(1) : T(-1);
    for (std::int64_t i = 0; i < n_; ++i) product *= at(i, i);
    return product;
  }
  bool singular() const {
    for (std::int64_t i = 0; i < n_; ++i)
      if (at(i, i) == 0) return true;
    return false;
  }
  // y [n, columns] becomes A^-1 y or A^-T y.
  void solve(bool transposed, T* y, std::int64_t columns) const {
    const triangle_solver<T> lower(lu_, n_, n_, true, transposed, true), upper(lu_, n_, n_, false, transposed, false);
    const auto exchange = [&](std::int64_t i) {
      if (from_[i] != i) std::swap_ranges(y + i * columns, y + (i + 1) * columns, y + from_[i] * columns);
    };
    if (!transposed) {
      for (std::int64_t i = 0; i < n_; ++i) exchange(i);
      lower.solve(y, columns);
      upper.solve(y, columns);
    } else {
      upper.solve(y, columns);
      lower.solve(y, columns);
      for (std::int64_t i = n_; i-- > 0;) exchange(i);
    }
  }

 private:
  T& at(std::int64_t i, std::int64_t j) const { return lu_[i * n_ + j]; }

  // Columns [first, last) of all rows from the first one on.
  void eliminate(std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) {
      std::int64_t pivot = k;
      for (std::int64_t i = k + 1; i < n_; ++i)
        if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
      from_[k] = pivot;
      if (pivot != k) {
        std::swap_ranges(lu_ + k * n_, lu_ + (k + 1) * n_, lu_ + pivot * n_);
        even_ = !even_;
      }
      if (at(k, k) == 0) continue;  // nothing is below it
      for (std::int64_t i = k + 1; i < n_; ++i) {
        at(i, k) /= at(k, k);
        add_scaled_run(&at(i, k) + 1, &at(k, k) + 1, -at(i, k), last - k - 1);
      }
    }
  }

  std::int64_t n_;
  T* lu_;
  std::int64_t* from_;  // what row i was exchanged with
  bool even_ = true;
};

// The lower triangle of a symmetric a [n, n] becomes l with l lT = a. False: a is not positive definite.
template <class T>
bool factor_cholesky(T* a, std::int64_t n) {
  for (std::int64_t k = 0; k < n; k += factor_block) {
    const std::int64_t count = std::min(factor_block, n - k);
    T* const block = a + k * n;
    if (k > 0)  // all rows from here on, of this block's columns
      multiply_matrices<T>(n - k, count, k, as_operand<T>(block, n), as_operand<T>(block, n).turned(), block + k, n,
                           product_into::subtract);
    for (std::int64_t j = k; j < k + count; ++j) {
      const T left = a[j * n + j] - dot_product(a + j * n + k, a + j * n + k, j - k);
      if (left <= 0) return false;
      a[j * n + j] = std::sqrt(left);
      for (std::int64_t i = j + 1; i < n; ++i)
        a[i * n + j] = (a[i * n + j] - dot_product(a + i * n + k, a + j * n + k, j - k)) / a[j * n + j];
    }
  }
  return true;
}

}  // namespace flowgraph::detail
