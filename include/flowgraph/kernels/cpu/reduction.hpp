// Reductions over any set of axes. Neighbouring axes that are both reduced, or both kept, are one axis; then the
// innermost one decides: if it is reduced, each result absorbs contiguous runs; if it is kept, a row of results
// absorbs rows.
#pragma once
#include <cstdint>

#include <flowgraph/ops/reduction.hpp>
#include "reducers.hpp"
#include "scratch.hpp"
#include "strided.hpp"

namespace flowgraph {

namespace detail {

struct reduction_layout {
  strided_axes kept, reduced;
  std::int64_t run = 1;  // extent of the innermost axis, which is in neither list
  bool run_is_reduced = false;

  reduction_layout(const array_view& x, const ops::reduce_attrs& a, bool split_run) {
    struct merged {
      std::int64_t extent;
      bool is_reduced;
    } axes[max_rank];
    int n = 0;
    for (int i = 0; i < x.rank; ++i) {
      if (x.dim(i) == 1) continue;
      if (n > 0 && axes[n - 1].is_reduced == ops::reduces(a, i))
        axes[n - 1].extent *= x.dim(i);
      else
        axes[n++] = {x.dim(i), ops::reduces(a, i)};
    }
    if (split_run && n > 0) {
      run = axes[n - 1].extent;
      run_is_reduced = axes[--n].is_reduced;
    }
    std::int64_t stride = run;
    for (int i = n; i-- > 0; stride *= axes[i].extent) {
      strided_axes& list = axes[i].is_reduced ? reduced : kept;
      list.push(axes[i].extent, stride);
    }
    reverse(kept);
    reverse(reduced);
  }

 private:
  static void reverse(strided_axes& a) {
    for (int i = 0; i < a.count / 2; ++i) {
      const strided_axis t = a.axis[i];
      a.axis[i] = a.axis[a.count - 1 - i];
      a.axis[a.count - 1 - i] = t;
    }
  }
};

template <class T, template <class> class Reducer>
void reduce(const kernel_args& k) {
  using reducer = Reducer<T>;
  using accumulator = typename reducer::accumulator;
  const T* x = k.in[0].as<const T>();
  T* y = k.out[0].as<T>();
  if (k.out[0].size() == 0) return;
  const reduction_layout layout(k.in[0], k.attrs<ops::reduce_attrs>(), true);
  if (layout.run_is_reduced) {
    for_each_offset(layout.kept, [&](std::int64_t kept) {
      accumulator a = reducer::start();
      for_each_offset(layout.reduced, [&](std::int64_t at) { reducer::run(a, x + kept + at, layout.run); });
      *y++ = reducer::finish(a);
    });
    return;
  }
  constexpr std::int64_t tile = 256;  // accumulators on the stack
  for_each_offset(layout.kept, [&](std::int64_t kept) {
    for (std::int64_t begin = 0; begin < layout.run; begin += tile) {
      const std::int64_t n = layout.run - begin < tile ? layout.run - begin : tile;
      accumulator a[tile];
      for (std::int64_t i = 0; i < n; ++i) a[i] = reducer::start();
      for_each_offset(layout.reduced, [&](std::int64_t at) { reducer::row(a, x + kept + begin + at, n); });
      for (std::int64_t i = 0; i < n; ++i) y[i] = reducer::finish(a[i]);
      y += n;
    }
  });
}

template <template <class> class Reducer, class Types>
struct reduction_kernel {
  using types = Types;
  template <class T>
  static void run(const kernel_args& k) {
    reduce<T, Reducer>(k);
  }
};

}  // namespace detail

template <>
struct cpu_kernel<ops::reduce_sum> : detail::reduction_kernel<detail::sum_reducer, number_types> {};
template <>
struct cpu_kernel<ops::reduce_prod> : detail::reduction_kernel<detail::prod_reducer, number_types> {};
template <>
struct cpu_kernel<ops::reduce_max> : detail::reduction_kernel<detail::max_reducer, number_types> {};
template <>
struct cpu_kernel<ops::reduce_min> : detail::reduction_kernel<detail::min_reducer, number_types> {};
template <>
struct cpu_kernel<ops::reduce_any> : detail::reduction_kernel<detail::any_reducer, type_list<bool>> {};
template <>
struct cpu_kernel<ops::reduce_all> : detail::reduction_kernel<detail::all_reducer, type_list<bool>> {};
template <>
struct cpu_kernel<ops::logsumexp> : detail::reduction_kernel<detail::logsumexp_reducer, floating_types> {};
template <>
struct cpu_kernel<ops::norm> : detail::reduction_kernel<detail::norm_reducer, floating_types> {};

// The products of all elements before, then of all behind.
template <>
struct cpu_kernel<ops::product_of_others> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const T* x = k.in[0].as<const T>();
    T* y = k.out[0].as<T>();
    const detail::reduction_layout layout(k.in[0], k.attrs<ops::reduce_attrs>(), false);
    const std::int64_t n = layout.reduced.size();
    detail::for_each_offset(layout.kept, [&](std::int64_t kept) {
      T before = 1, behind = 1;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = kept + layout.reduced.offset(i);
        y[at] = before;
        before *= x[at];
      }
      for (std::int64_t i = n; i-- > 0;) {
        const std::int64_t at = kept + layout.reduced.offset(i);
        y[at] *= behind;
        behind *= x[at];
      }
    });
  }
};

// With P_k the product of the elements before k and A_k its derivative along g (A_k+1 = A_k x_k + P_k g_k), and with
// S_k and B_k the same from behind: h_k = A_k S_k + P_k B_k.
template <>
struct cpu_kernel<ops::product_of_others_gradient> {
  using types = floating_types;
  template <class T>
  static void run(const kernel_args& k) {
    const T *x = k.in[0].as<const T>(), *g = k.in[1].as<const T>();
    T* h = k.out[0].as<T>();
    const detail::reduction_layout layout(k.in[0], k.attrs<ops::reduce_attrs>(), false);
    const std::int64_t n = layout.reduced.size();
    T* const slope_before = detail::scratch<T>(n);
    detail::for_each_offset(layout.kept, [&](std::int64_t kept) {
      T product = 1, slope = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = kept + layout.reduced.offset(i);
        h[at] = product;
        slope_before[i] = slope;
        slope = slope * x[at] + product * g[at];
        product *= x[at];
      }
      product = 1;
      slope = 0;
      for (std::int64_t i = n; i-- > 0;) {
        const std::int64_t at = kept + layout.reduced.offset(i);
        h[at] = slope_before[i] * product + h[at] * slope;
        slope = slope * x[at] + product * g[at];
        product *= x[at];
      }
    });
  }
};

using reduction_kernels =
    type_list<ops::reduce_sum, ops::reduce_prod, ops::reduce_max, ops::reduce_min, ops::reduce_any, ops::reduce_all,
              ops::logsumexp, ops::norm, ops::product_of_others, ops::product_of_others_gradient>;

}  // namespace flowgraph
