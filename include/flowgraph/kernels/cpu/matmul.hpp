// The matrix product on Eigen, one product for each pair of matrices in the batch. Integers have loops of their
// own: Eigen's blocked kernels are for floating-point numbers.
#pragma once
#include <cstdint>
#include <type_traits>

#include <Eigen/Core>

#include <flowgraph/ops/matmul.hpp>
#include "strided.hpp"

namespace flowgraph {

namespace detail {

// One product of matrices as they lie in memory: op(a) is m x k, op(b) is k x n, y is m x n.
struct product_shape {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

template <class T, int Order>
using const_matrix_map = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>>;
template <class T>
using matrix_map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// A transposed row-major matrix is a column-major one.
template <class T, int OrderA, int OrderB>
void eigen_product(const T* a, const T* b, T* y, const product_shape& s) {
  matrix_map<T>(y, s.m, s.n).noalias() =
      const_matrix_map<T, OrderA>(a, s.m, s.k) * const_matrix_map<T, OrderB>(b, s.k, s.n);
}

template <class T>
void multiply(const T* a, const T* b, T* y, const product_shape& s) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int row = Eigen::RowMajor, column = Eigen::ColMajor;
    if (s.transpose_a)
      s.transpose_b ? eigen_product<T, column, column>(a, b, y, s) : eigen_product<T, column, row>(a, b, y, s);
    else
      s.transpose_b ? eigen_product<T, row, column>(a, b, y, s) : eigen_product<T, row, row>(a, b, y, s);
  } else {
    using wrapping = std::make_unsigned_t<T>;
    const std::int64_t a_row = s.transpose_a ? 1 : s.k, a_column = s.transpose_a ? s.m : 1;
    const std::int64_t b_row = s.transpose_b ? 1 : s.n, b_column = s.transpose_b ? s.k : 1;
    for (std::int64_t i = 0; i < s.m; ++i) {
      T* row = y + i * s.n;
      for (std::int64_t j = 0; j < s.n; ++j) row[j] = 0;
      for (std::int64_t l = 0; l < s.k; ++l) {
        const auto x = static_cast<wrapping>(a[i * a_row + l * a_column]);
        for (std::int64_t j = 0; j < s.n; ++j)
          row[j] =
              static_cast<T>(static_cast<wrapping>(row[j]) + x * static_cast<wrapping>(b[l * b_row + j * b_column]));
      }
    }
  }
}

// The leading axes of y with the steps of an operand, 0 where it is repeated. Matrices count as one element.
inline strided_axes batch_axes(const array_view& operand, const array_view& y) {
  strided_axes axes;
  std::int64_t strides[max_rank], stride = 1;
  for (int i = 2; i < y.rank; ++i) {
    const std::int64_t extent = i < operand.rank ? operand.last(i) : 1;
    strides[i] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  for (int i = y.rank; i-- > 2;) axes.push(y.last(i), strides[i]);
  return axes;
}

inline std::int64_t batch_size(const array_view& x) {
  std::int64_t n = 1;
  for (int i = 2; i < x.rank; ++i) n *= x.last(i);
  return n;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::matmul> {
  using types = number_types;
  template <class T>
  static void run(const kernel_args& k) {
    const array_view &a = k.in[0], &b = k.in[1], &y = k.out[0];
    const auto [ta, tb] = k.attrs<ops::matmul::attrs>();
    detail::product_shape s{y.last(1), y.last(0), a.last(ta ? 1 : 0), ta != 0, tb != 0};
    std::int64_t batch = detail::batch_size(y);
    if (s.m * s.n * batch == 0) return;
    if (!s.transpose_a && detail::batch_size(b) == 1) {  // one right operand for all rows: one product
      s.m *= batch;
      batch = 1;
    }
    const detail::strided_axes a_batch = detail::batch_axes(a, y), b_batch = detail::batch_axes(b, y);
    for (std::int64_t i = 0; i < batch; ++i)
      detail::multiply(a.as<const T>() + a_batch.offset(i) * s.m * s.k, b.as<const T>() + b_batch.offset(i) * s.k * s.n,
                       y.as<T>() + i * s.m * s.n, s);
  }
};

using matmul_kernels = type_list<ops::matmul>;

}  // namespace flowgraph
