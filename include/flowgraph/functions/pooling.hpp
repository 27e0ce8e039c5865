// Pooling of images [batch, height, width, channels], or with .layout = fg::nchw [batch, channels, height, width], and
// the normalisation by neighbouring channels that went with it.
#pragma once
#include <flowgraph/ops/pool.hpp>
#include "channels.hpp"
#include "precision.hpp"

namespace flowgraph {

// max_pool<fg::pool{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same}>(x)
template <pool Options = pool{}, any_tensor X>
constexpr auto max_pool(const X& images, caller where = {}) {
  return detail::call<ops::max_pool, Options>(where, detail::as_tensor(images));
}

// The mean of the elements under the window; padding is not counted.
template <pool Options = pool{}, any_tensor X>
constexpr auto avg_pool(const X& images, caller where = {}) {
  return detail::call<ops::avg_pool, Options>(where, detail::as_tensor(images));
}

// x[c] / (bias + alpha sum(x[c - radius .. c + radius]^2))^beta over the channels c: the last axis, or the second in
// local_response_normalization<fg::nchw>.
template <image_layout Layout = nhwc, any_tensor X>
constexpr auto local_response_normalization(const X& x, int radius = 5, double bias = 1, double alpha = 1,
                                            double beta = 0.5, caller where = {}) {
  if constexpr (!floating_tensor<X> || rank_v<X> < (Layout == nhwc ? 1 : 2)) {
    detail::mistake<floating_tensor<X> ? problem::operand_rank : problem::needs_floating, tensor_t<X>>();
    return detail::as_tensor(x);
  } else {
    x.graph->where = where;
    if (radius < 0) x.graph->fail(problem::parameter_range, "local_response_normalization");
    constexpr int channels = detail::channels_of<Layout, X>();
    const auto wide = detail::widened(where, detail::as_tensor(x));
    const auto near = detail::call_with<ops::neighbour_sum>(where, {radius, channels}, square(wide, where));
    const auto of = add(mul(near, alpha, where), bias, where);
    // The usual powers by square roots, which processors have: pow takes ten times as long as all the rest.
    const auto power = [&]() -> decltype(pow(of, beta, where)) {
      if (beta != 0.5 && beta != 0.75) return pow(of, beta, where);
      const auto root = sqrt(of, where);
      return beta == 0.5 ? root : mul(root, sqrt(root, where), where);
    };
    return detail::narrowed<X>(where, div(wide, power(), where));
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_BEYOND(
    max_pool, 2, (detail::no_tensor_first<X...> || !(std::is_convertible_v<decltype(Stated), pool> && ...)),
    "max_pool takes images, and options as a template argument, as in max_pool<fg::pool{.window = {2, 2}}>(images)")
FLOWGRAPH_MISUSE_BEYOND(
    avg_pool, 2, (detail::no_tensor_first<X...> || !(std::is_convertible_v<decltype(Stated), pool> && ...)),
    "avg_pool takes images, and options as a template argument, as in avg_pool<fg::pool{.window = {2, 2}}>(images)")
FLOWGRAPH_MISUSE(local_response_normalization, 6, no_tensor_first,
                 "local_response_normalization takes a tensor, as in local_response_normalization(x)")

}  // namespace flowgraph
