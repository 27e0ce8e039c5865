// oneDNN as a provider of kernels: which ops it computes, and from which size on it pays.
#pragma once
#include <cstdint>
#include <memory>

#include <flowgraph/kernels/provider.hpp>
#include "by_rows.hpp"
#include "convolution.hpp"
#include "matmul.hpp"

namespace flowgraph::detail::onednn {

inline bool all_float_and_not_empty(const kernel_args& k) {
  const auto fits = [](const array_view& v) { return v.type == dtype::float32 && v.size() > 0; };
  for (int i = 0; i < k.n_in; ++i)
    if (!fits(k.in[i])) return false;
  return k.n_out == 1 && fits(k.out[0]);
}

// Everywhere: also where the library's own kernels are done before oneDNN has looked at its arguments.
template <bool Everywhere>
std::unique_ptr<prepared_kernel> prepare(const op_def& op, const kernel_args& k, int) {
  if (!all_float_and_not_empty(k) || !openmp::controlled()) return nullptr;
  const on_this_thread alone;
  if (op.id == ops::matmul::id) {
    auto m = std::make_unique<matmul>(k);
    return Everywhere || (m->flops() >= 1 << 17 && !m->slower_than_tiles()) ? std::move(m) : nullptr;
  }
  if (op.id == ops::conv2d::id) return convolution::make(direction::forward, k, Everywhere);
  if (op.id == ops::conv2d_input_gradient::id) return convolution::make(direction::input, k, Everywhere);
  if (op.id == ops::conv2d_filter_gradient::id) return convolution::make(direction::filter, k, Everywhere);
  if (!Everywhere && k.in[0].size() < 1 << 14) return nullptr;
  if (op.id == ops::softmax::id) return make_softmax(k, false);
  if (op.id == ops::log_softmax::id) return make_softmax(k, true);
  if (op.id == ops::avg_pool::id) return make_avg_pool(k, false);
  if (op.id == ops::avg_pool_gradient::id) return make_avg_pool(k, true);
  return nullptr;
}

inline constexpr kernel_provider everywhere{"onednn", &prepare<true>, true};
inline constexpr kernel_provider where_faster{"onednn", &prepare<false>};

}  // namespace flowgraph::detail::onednn
