// Normalisation by the statistics of a batch or of a layer. Made of ops: what is element-wise in them is fused.
#pragma once
#include <utility>

#include "channels.hpp"
#include "precision.hpp"
#include "reduction.hpp"

namespace flowgraph {

template <class Y, class M>
struct batch_normalized {
  Y y;
  M mean;
  M variance;  // of the batch itself: divided by n, not by n - 1
};

namespace detail {

// What is wrong with an operand and its statistics, which have the extents of its axes First to Last - 1.
template <int First, int Last, class X, class... Statistics>
constexpr problem norm_problem() {
  if constexpr (!floating_tensor<X>) {
    return problem::needs_floating;
  } else if constexpr (!(std::is_same_v<element_t<X>, element_t<Statistics>> && ...)) {
    return problem::dtypes_differ;
  } else {
    bool same = true;
    const auto check = [&same](const shape_text& x, const shape_text& s) {
      same = same && s.rank == Last - First;
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
// The mean over all axes but that of the channels: [channels].
template <image_layout Layout, class T>
constexpr auto mean_of_channels(source where, T x) {
  if constexpr (Layout == nhwc)
    return mean_over<false, 0, T::rank - 1>(where, x);
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return mean<false, 0, (2 + I)...>(where, x);
    }(std::make_integer_sequence<int, T::rank - 2>{});
}

template <image_layout Layout, int LeastRank, class X, class... Statistics>
constexpr problem batch_norm_problem() {
  constexpr int channels = channels_of<Layout, X>();
  if constexpr (tensor_t<X>::rank < LeastRank)
    return problem::operand_rank;
  else
    return norm_problem<channels, channels + 1, tensor_t<X>, tensor_t<Statistics>...>();
}

// centred / sqrt(variance + epsilon) scale + offset, all but centred with an element for each channel
template <image_layout Layout, class Narrow, class X, class V, class S, class O>
constexpr auto normalize(const X& centred, const V& variance, const S& scale, const O& offset, double epsilon,
                         caller where) {
  const auto factor = mul(rsqrt(add(variance, epsilon, where), where), widened(where, as_tensor(scale)), where);
  const auto scaled = mul(centred, along_channels<Layout, X>(where, factor), where);
  const auto shift = along_channels<Layout, X>(where, widened(where, as_tensor(offset)));
  return narrowed<Narrow>(where, add(scaled, shift, where));
}

}  // namespace detail

// Training form: statistics over all axes but the channels, which are the last axis, or the second in
// batch_norm<fg::nchw>. With the statistics running averages can be updated.
//   auto [y, mean, variance] = batch_norm(x, scale, offset);
template <image_layout Layout = nhwc, any_tensor X, any_tensor S, any_tensor O>
constexpr auto batch_norm(const X& x, const S& scale, const O& offset, double epsilon = 1e-3, caller where = {}) {
  using image = tensor_t<X>;
  constexpr problem p = detail::batch_norm_problem<Layout, 2, X, S, O>();
  if constexpr (p != problem::none) {
    detail::mistake<p, image, tensor_t<S>, tensor_t<O>>();
    return batch_normalized<image, tensor_t<S>>{x, scale, scale};
  } else {
    const auto wide = detail::widened(where, detail::as_tensor(x));
    const auto mean = detail::mean_of_channels<Layout>(where, wide);  // [channels]
    const auto centred = sub(wide, detail::along_channels<Layout, X>(where, mean), where);
    const auto variance = detail::mean_of_channels<Layout>(where, square(centred, where));
    const auto y = detail::normalize<Layout, X>(centred, variance, scale, offset, epsilon, where);
    return batch_normalized<tensor_t<decltype(y)>, decltype(detail::narrowed<X>(where, mean))>{
        y, detail::narrowed<X>(where, mean), detail::narrowed<X>(where, variance)};
  }
}

// Inference form: with statistics that were collected in training.
template <image_layout Layout = nhwc, any_tensor X, any_tensor S, any_tensor O, any_tensor M, any_tensor V>
constexpr auto batch_norm(const X& x, const S& scale, const O& offset, const M& mean, const V& variance,
                          double epsilon = 1e-3, caller where = {}) {
  constexpr problem p = detail::batch_norm_problem<Layout, (Layout == nhwc ? 1 : 2), X, S, O, M, V>();
  if constexpr (p != problem::none) {
    detail::mistake<p, tensor_t<X>, tensor_t<S>, tensor_t<O>, tensor_t<M>, tensor_t<V>>();
    return detail::as_tensor(x);
  } else {
    const auto middle = detail::along_channels<Layout, X>(where, detail::widened(where, detail::as_tensor(mean)));
    const auto centred = sub(detail::widened(where, detail::as_tensor(x)), middle, where);
    const auto spread = detail::widened(where, detail::as_tensor(variance));
    return detail::normalize<Layout, X>(centred, spread, scale, offset, epsilon, where);
  }
}

// Each row by its own statistics: over the axes from Axis to the last, whose extents scale and offset have.
template <int Axis = -1, any_tensor X, any_tensor S, any_tensor O>
constexpr auto layer_norm(const X& x, const S& scale, const O& offset, double epsilon = 1e-5, caller where = {}) {
  using image = tensor_t<X>;
  constexpr int first = detail::axis_of<image, Axis>();
  constexpr bool in_range = Axis >= -image::rank && Axis < image::rank;
  constexpr problem p =
      in_range ? detail::norm_problem<first, image::rank, image, tensor_t<S>, tensor_t<O>>() : problem::none;
  if constexpr (p != problem::none) detail::mistake<p, image, tensor_t<S>, tensor_t<O>>();
  if constexpr (p != problem::none || !in_range) {
    return detail::as_tensor(x);
  } else {
    const auto wide = detail::widened(where, detail::as_tensor(x));
    const auto mean = detail::mean_over<true, first, image::rank>(where, wide);  // [rows, 1]
    const auto centred = sub(wide, mean, where);
    const auto variance = detail::mean_over<true, first, image::rank>(where, square(centred, where));
    const auto scaled = mul(mul(centred, rsqrt(add(variance, epsilon, where), where), where),
                            detail::widened(where, detail::as_tensor(scale)), where);
    return detail::narrowed<X>(where, add(scaled, detail::widened(where, detail::as_tensor(offset)), where));
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(batch_norm, 7, not_three_tensors_first,
                 "batch_norm takes a tensor, its scale and its offset, as in batch_norm(x, scale, offset)")
FLOWGRAPH_MISUSE(layer_norm, 5, not_three_tensors_first,
                 "layer_norm takes a tensor, its scale and its offset, as in layer_norm(x, scale, offset)")

}  // namespace flowgraph
