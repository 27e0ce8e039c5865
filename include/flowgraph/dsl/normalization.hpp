// Normalisation by the statistics of a batch or of a layer. Made of ops: what is element-wise in them is fused.
#pragma once
#include <utility>

#include "reduction.hpp"

namespace flowgraph {

template <class Y, class M>
struct batch_normalized {
  Y y;
  M mean;
  M variance;  // of the batch itself: divided by n, not by n - 1
};

namespace detail {

// Does an operand's shape equal the last axes of X's, from Axis on?
template <int Axis, class X, class... Operands>
constexpr bool have_last_axes() {
  bool same = true;
  const auto check = [&same](const shape_text& x, const shape_text& o) {
    if (o.rank != x.rank - Axis) {
      same = false;
      return;
    }
    for (int i = 0; i < o.rank; ++i) {
      const int k = Axis + i;
      same = same && x.number[k] == o.number[i] && (x.number[k] >= 0 || x.name(k) == o.name(i));
    }
  };
  (check(X::shape, Operands::shape), ...);
  return same;
}

// The mean over axes First to Last - 1.
template <bool Keep, int First, int Last, class T>
constexpr auto mean_over(source where, T x) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return mean<Keep, (First + I)...>(where, x);
  }(std::make_integer_sequence<int, Last - First>{});
}

// centred / sqrt(variance + epsilon) scale + offset
template <class X, class V, class S, class O>
constexpr auto normalize(const X& centred, const V& variance, const S& scale, const O& offset, double epsilon,
                         caller where) {
  const auto factor = mul(rsqrt(add(variance, epsilon, where), where), scale, where);
  return add(mul(centred, factor, where), offset, where);
}

}  // namespace detail

// Training form: statistics over all axes but the last, with which running averages can be updated.
//   auto [y, mean, variance] = batch_norm(x, scale, offset);
template <any_tensor X, any_tensor S, any_tensor O>
constexpr auto batch_norm(const X& x, const S& scale, const O& offset, double epsilon = 1e-3, caller where = {}) {
  using image = tensor_t<X>;
  if constexpr (image::rank < 2) {
    detail::mistake<problem::operand_rank, image>();
    return detail::as_tensor(x);
  } else if constexpr (!detail::have_last_axes<image::rank - 1, image, tensor_t<S>, tensor_t<O>>()) {
    detail::mistake<problem::norm_extents, image, tensor_t<S>, tensor_t<O>>();
    return detail::as_tensor(x);
  } else {
    const auto mean = detail::mean_over<false, 0, image::rank - 1>(where, detail::as_tensor(x));  // [channels]
    const auto centred = sub(x, mean, where);
    const auto variance = detail::mean_over<false, 0, image::rank - 1>(where, square(centred, where));
    const auto y = detail::normalize(centred, variance, scale, offset, epsilon, where);
    return batch_normalized<decltype(y), decltype(mean)>{y, mean, variance};
  }
}

// Inference form: with statistics that were collected in training.
template <any_tensor X, any_tensor S, any_tensor O, any_tensor M, any_tensor V>
constexpr auto batch_norm(const X& x, const S& scale, const O& offset, const M& mean, const V& variance,
                          double epsilon = 1e-3, caller where = {}) {
  using image = tensor_t<X>;
  if constexpr (image::rank < 1) {
    detail::mistake<problem::operand_rank, image>();
    return detail::as_tensor(x);
  } else if constexpr (!detail::have_last_axes<image::rank - 1, image, tensor_t<S>, tensor_t<O>, tensor_t<M>,
                                               tensor_t<V>>()) {
    detail::mistake<problem::norm_extents, image, tensor_t<S>, tensor_t<O>, tensor_t<M>, tensor_t<V>>();
    return detail::as_tensor(x);
  } else {
    return detail::normalize(sub(x, mean, where), variance, scale, offset, epsilon, where);
  }
}

// Each row by its own statistics: over the axes from Axis to the last, whose extents scale and offset have.
template <int Axis = -1, any_tensor X, any_tensor S, any_tensor O>
constexpr auto layer_norm(const X& x, const S& scale, const O& offset, double epsilon = 1e-5, caller where = {}) {
  using image = tensor_t<X>;
  constexpr int first = detail::axis_of<image, Axis>();
  if constexpr (!detail::have_last_axes<first, image, tensor_t<S>, tensor_t<O>>()) {
    detail::mistake<problem::norm_extents, image, tensor_t<S>, tensor_t<O>>();
    return detail::as_tensor(x);
  } else {
    const auto mean = detail::mean_over<true, first, image::rank>(where, detail::as_tensor(x));  // [rows, 1]
    const auto centred = sub(x, mean, where);
    const auto variance = detail::mean_over<true, first, image::rank>(where, square(centred, where));
    const auto scaled = mul(mul(centred, rsqrt(add(variance, epsilon, where), where), where), scale, where);
    return add(scaled, offset, where);
  }
}

}  // namespace flowgraph
