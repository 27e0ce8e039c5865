// Softmax and its losses. Along the innermost axis a row is contiguous and Eigen vectorises it; along another axis
// the same code walks with a stride.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include <Eigen/Core>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/softmax.hpp>

namespace flowgraph {

namespace detail {

template <class T, class Stride>
using strided_row = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned, Stride>;
template <class T, class Stride>
using const_strided_row = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned, Stride>;

// f(x, y) on each line of the first operand and result along the axis.
template <class T, class F>
void for_each_line(const kernel_args& k, const F& f) {
  const array_view &x = k.in[0], &y = k.out[0];
  const int axis = static_cast<int>(k.attrs<ops::axis_attrs>().axis);
  const std::int64_t n = x.dim(axis);
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.rank; ++i) inner *= x.dim(i);
  const std::int64_t total = x.size();
  if (total == 0) return;
  if (inner == 1) {
    for (std::int64_t at = 0; at < total; at += n)
      f(const_strided_row<T, Eigen::Stride<0, 0>>(x.as<const T>() + at, n),
        strided_row<T, Eigen::Stride<0, 0>>(y.as<T>() + at, n));
    return;
  }
  const Eigen::InnerStride<> stride(inner);
  for (std::int64_t outer = 0; outer < total; outer += n * inner)
    for (std::int64_t at = outer; at < outer + inner; ++at)
      f(const_strided_row<T, Eigen::InnerStride<>>(x.as<const T>() + at, n, stride),
        strided_row<T, Eigen::InnerStride<>>(y.as<T>() + at, n, stride));
}

// Class numbers of either integer type, checked.
class label_reader {
 public:
  label_reader(const array_view& labels, std::int64_t classes) : labels_(labels), classes_(classes) {}
  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t label =
        labels_.type == dtype::int32 ? labels_.as<const std::int32_t>()[i] : labels_.as<const std::int64_t>()[i];
    if (label < 0 || label >= classes_)
      throw execution_error(problem::index_out_of_range, "label " + std::to_string(label) + " of row " +
                                                             std::to_string(i) + " must lie between 0 and " +
                                                             std::to_string(classes_ - 1));
    return label;
  }

 private:
  const array_view& labels_;
  std::int64_t classes_;
};

}  // namespace detail

// The largest x is taken from all of them first, so that no exp overflows and one of them is 1.
template <>
struct cpu_kernel<ops::softmax> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::for_each_line<T>(k, [](const auto& x, auto y) {
      y = (x - x.maxCoeff()).exp();
      y *= T(1) / y.sum();
    });
  }
};

template <>
struct cpu_kernel<ops::log_softmax> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::for_each_line<T>(k, [](const auto& x, auto y) {
      const T largest = x.maxCoeff();
      const T log_sum = largest + std::log((x - largest).exp().sum());
      y = x - log_sum;
    });
  }
};

template <>
struct cpu_kernel<ops::sparse_softmax_cross_entropy> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t classes = k.in[0].last(0), rows = k.in[1].size();
    const detail::label_reader labels(k.in[1], classes);
    T* loss = k.out[0].as<T>();
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t label = labels[i];
      const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(k.in[0].as<const T>() + i * classes, classes);
      const T largest = x.maxCoeff();
      loss[i] = std::log((x - largest).exp().sum()) - (x[label] - largest);
    }
  }
};

template <>
struct cpu_kernel<ops::softmax_minus_one_hot> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t classes = k.in[0].last(0), rows = k.in[1].size();
    const detail::label_reader labels(k.in[1], classes);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t label = labels[i];
      const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(k.in[0].as<const T>() + i * classes, classes);
      Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> y(k.out[0].as<T>() + i * classes, classes);
      y = (x - x.maxCoeff()).exp();
      y *= T(1) / y.sum();
      y[label] -= T(1);
    }
  }
};

using softmax_kernels =
    type_list<ops::softmax, ops::log_softmax, ops::sparse_softmax_cross_entropy, ops::softmax_minus_one_hot>;

}  // namespace flowgraph
