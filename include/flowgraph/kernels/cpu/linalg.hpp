// Linear algebra, one matrix of the batch after the other. A matrix that has no result (singular, not positive
// definite) ends the step with an execution_error; NaN in the operand is NaN in the result.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/linalg.hpp>
#include "cofactors.hpp"
#include "decompositions.hpp"
#include "matmul.hpp"
#include "strided_copy.hpp"

namespace flowgraph {

namespace detail {

// "solve: the matrix is singular", with its place in a batch of several.
[[noreturn]] inline void refuse_matrix(problem why, std::string message, std::int64_t index, std::int64_t batch) {
  if (batch > 1) message += " (matrix " + std::to_string(index) + " of a batch of " + std::to_string(batch) + ")";
  throw execution_error(why, message);
}

// f(a, y, index) for each square matrix of the operand, with y the place of its result.
template <class T, class F>
void for_each_matrix(const kernel_args& k, std::int64_t result_size, const F& f) {
  const std::int64_t n = k.in[0].last(0), batch = batch_size(k.in[0]);
  parallel_for(k, batch, part_size(n * n * n), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      f(k.in[0].as<const T>() + i * n * n, k.out[0].as<T>() + i * result_size, i);
  });
}

// The result starts as the right-hand sides, repeated where the batch asks for it; f(a, y, index) solves in place.
template <class T, class F>
void for_each_system(const kernel_args& k, const F& f) {
  const array_view &a = k.in[0], &b = k.in[1], &y = k.out[0];
  const std::int64_t n = y.last(1), columns = y.last(0), batch = batch_size(y);
  if (n * columns == 0) return;
  const strided_axes a_batch = batch_axes(a, y), b_batch = batch_axes(b, y);
  parallel_for(k, batch, part_size(n * n * (n + columns)), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      T* const target = y.as<T>() + i * n * columns;
      std::memcpy(target, b.as<const T>() + b_batch.offset(i) * n * columns,
                  static_cast<std::size_t>(n * columns) * sizeof(T));
      f(a.as<const T>() + a_batch.offset(i) * n * n, target, i);
    }
  });
}

}  // namespace detail

template <>
struct cpu_kernel<ops::matrix_inverse> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.in[0].last(0), batch = detail::batch_size(k.in[0]);
    if (n == 0) return;
    detail::for_each_matrix<T>(k, n * n, [&](const T* a, T* y, std::int64_t i) {
      const detail::row_exchange_lu<T> lu(a, n);
      if (lu.singular())
        detail::refuse_matrix(problem::singular_matrix, "matrix_inverse: the matrix is singular", i, batch);
      std::fill_n(y, n * n, T(0));
      for (std::int64_t j = 0; j < n; ++j) y[j * n + j] = T(1);
      lu.solve(false, y, n);
    });
  }
};

template <>
struct cpu_kernel<ops::matrix_determinant> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.in[0].last(0);
    detail::for_each_matrix<T>(k, 1, [n](const T* a, T* y, std::int64_t) {
      *y = n == 0 ? T{1} : detail::row_exchange_lu<T>(a, n).determinant();
    });
  }
};

template <>
struct cpu_kernel<ops::cofactors> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.in[0].last(0);
    if (n == 0) return;
    detail::for_each_matrix<T>(k, n * n, [n](const T* a, T* y, std::int64_t) { detail::write_cofactors(a, n, y); });
  }
};

template <>
struct cpu_kernel<ops::cholesky> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.in[0].last(0), batch = detail::batch_size(k.in[0]);
    detail::for_each_matrix<T>(k, n * n, [&](const T* a, T* y, std::int64_t index) {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) y[i * n + j] = j > i ? T(0) : (a[i * n + j] + a[j * n + i]) / 2;
      if (!detail::factor_cholesky(y, n))
        detail::refuse_matrix(problem::not_positive_definite, "cholesky: the matrix is not positive definite", index,
                              batch);
      for (std::int64_t i = 0; i < n; ++i) std::fill_n(y + i * n + i + 1, n - 1 - i, T(0));
    });
  }
};

template <>
struct cpu_kernel<ops::solve> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const bool adjoint = k.attrs<ops::solve::attrs>().adjoint != 0;
    const std::int64_t batch = detail::batch_size(k.out[0]);
    const std::int64_t n = k.out[0].last(1), columns = k.out[0].last(0);
    detail::for_each_system<T>(k, [&](const T* a, T* y, std::int64_t i) {
      const detail::row_exchange_lu<T> lu(a, n);
      if (lu.singular()) detail::refuse_matrix(problem::singular_matrix, "solve: the matrix is singular", i, batch);
      lu.solve(adjoint, y, columns);
    });
  }
};

template <>
struct cpu_kernel<ops::triangular_solve> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto [lower, adjoint] = k.attrs<ops::triangular_solve::attrs>();
    const std::int64_t batch = detail::batch_size(k.out[0]);
    const std::int64_t n = k.out[0].last(1), columns = k.out[0].last(0);
    detail::for_each_system<T>(k, [&, low = lower != 0, turned = adjoint != 0](const T* a, T* y, std::int64_t index) {
      for (std::int64_t i = 0; i < n; ++i)
        if (a[i * n + i] == 0)
          detail::refuse_matrix(problem::singular_matrix, "triangular_solve: the matrix has a zero on its diagonal",
                                index, batch);
      detail::triangle_solver<T>(a, n, n, low, turned, false).solve(y, columns);
    });
  }
};

template <>
struct cpu_kernel<ops::band_part> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view& x = k.in[0];
    const auto [lower, upper] = k.attrs<ops::band_part::attrs>();
    const std::int64_t rows = x.last(1), columns = x.last(0), batch = detail::batch_size(x);
    const T* from = x.as<const T>();
    T* to = k.out[0].as<T>();
    const auto inside = [low = lower, up = upper](std::int64_t i, std::int64_t j) {
      return (low < 0 || i - j <= low) && (up < 0 || j - i <= up);
    };
    parallel_for(k, batch * rows, part_size(columns), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r)
        for (std::int64_t j = 0; j < columns; ++j)
          to[r * columns + j] = inside(r % rows, j) ? from[r * columns + j] : T{};
    });
  }
};

// The diagonal of an n x n matrix is a walk with stride n+1.
template <>
struct cpu_kernel<ops::diag_part> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.in[0].last(0);
    detail::strided_copy copy;
    copy.axis(detail::batch_size(k.in[0]), n, n * n);
    copy.axis(n, 1, n + 1);
    copy.run<sizeof(T)>(k, k.out[0], 0, k.in[0], 0);
  }
};

template <>
struct cpu_kernel<ops::diag> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.out[0].last(0);
    if (k.out[0].size() == 0) return;
    std::memset(k.out[0].data, 0, static_cast<std::size_t>(k.out[0].size()) * sizeof(T));
    detail::strided_copy copy;
    copy.axis(detail::batch_size(k.out[0]), n * n, n);
    copy.axis(n, n + 1, 1);
    copy.run<sizeof(T)>(k, k.out[0], 0, k.in[0], 0);
  }
};

using linalg_kernels = type_list<ops::matrix_inverse, ops::matrix_determinant, ops::cofactors, ops::cholesky,
                                 ops::solve, ops::triangular_solve, ops::band_part, ops::diag_part, ops::diag>;

}  // namespace flowgraph
