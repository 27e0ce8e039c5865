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

// What is wrong with an operand and its statistics, which have the extents of its axes from First on.
template <int First, class X, class... Statistics>
constexpr problem norm_problem() {
  if constexpr (!floating_tensor<X>) {
    return problem::needs_floating;
  } else if constexpr (!(std::is_same_v<element_t<X>, element_t<Statistics>> && ...)) {
    return problem::dtypes_differ;
  } else {
    bool same = true;
    const auto check = [&same](const shape_text& x, const shape_text& s) {
      same = same && s.rank == x.rank - First;
      for (int i = 0; same && i < s.rank; ++i) {
        const int k = First + i;
        same = x.number[k] == s.number[i] && (x.number[k] >= 0 || x.name(k) == s.name(i));
      }
    };
    (check(X::shape, Statistics::shape), ...);
    return same ? problem::none : problem::norm_extents;
  }
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
  constexpr int last = image::rank - 1;
  constexpr problem p =
      last < 1 ? problem::operand_rank : detail::norm_problem<last, image, tensor_t<S>, tensor_t<O>>();
  if constexpr (p != problem::none) {
    detail::mistake<p, image, tensor_t<S>, tensor_t<O>>();
    return batch_normalized<image, tensor_t<S>>{x, scale, scale};
  } else {
    const auto mean = detail::mean_over<false, 0, last>(where, detail::as_tensor(x));  // [channels]
    const auto centred = sub(x, mean, where);
    const auto variance = detail::mean_over<false, 0, last>(where, square(centred, where));
    const auto y = detail::normalize(centred, variance, scale, offset, epsilon, where);
    return batch_normalized<tensor_t<decltype(y)>, tensor_t<decltype(mean)>>{y, mean, variance};
  }
}

// Inference form: with statistics that were collected in training.
template <any_tensor X, any_tensor S, any_tensor O, any_tensor M, any_tensor V>
constexpr auto batch_norm(const X& x, const S& scale, const O& offset, const M& mean, const V& variance,
                          double epsilon = 1e-3, caller where = {}) {
  using image = tensor_t<X>;
  constexpr int last = image::rank - 1;
  constexpr problem p = last < 0
                            ? problem::operand_rank
                            : detail::norm_problem<last, image, tensor_t<S>, tensor_t<O>, tensor_t<M>, tensor_t<V>>();
  if constexpr (p != problem::none) {
    detail::mistake<p, image, tensor_t<S>, tensor_t<O>, tensor_t<M>, tensor_t<V>>();
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
  constexpr bool in_range = Axis >= -image::rank && Axis < image::rank;
  constexpr problem p = in_range ? detail::norm_problem<first, image, tensor_t<S>, tensor_t<O>>() : problem::none;
  if constexpr (p != problem::none) detail::mistake<p, image, tensor_t<S>, tensor_t<O>>();
  if constexpr (p != problem::none || !in_range) {
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
