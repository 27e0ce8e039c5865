// Reductions over any set of axes. Neighbouring axes that are both reduced, or both kept, are one axis; then the
// innermost one decides: if it is reduced, each result absorbs contiguous runs; if it is kept, a row of results
// absorbs rows.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/reduction.hpp>
#include "absorbed.hpp"
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

// Accumulators of parts that a result is cut into, merged in the order of the parts.
template <class Accumulator>
struct partial_results {
  std::int64_t parts;
  Accumulator* at;

  partial_results(std::int64_t results, std::int64_t n_parts)
      : parts(n_parts),
        at(n_parts == 1 ? nullptr : scratch<Accumulator, partial_results>(results * n_parts)) {}
};

// Each result absorbs contiguous runs. Long ones are cut, or several short ones put together, into parts.
template <class T, class Reducer>
void reduce_runs(const kernel_args& k, const reduction_layout& layout, T* y) {
  using accumulator = typename Reducer::accumulator;
  const std::int64_t results = layout.kept.size(), runs = layout.reduced.size(), run = layout.run;
  const std::int64_t piece = std::min(run, part_work), cuts = run == 0 ? 1 : (run + piece - 1) / piece;
  const std::int64_t runs_each = cuts > 1 ? 1 : std::max<std::int64_t>(1, std::min(runs, part_size(run)));
  const std::int64_t groups = (runs + runs_each - 1) / runs_each;
  const partial_results<accumulator> partial(results, std::max<std::int64_t>(1, groups * cuts));
  const bool in_order = runs == 1 && partial.parts == 1 && layout.kept.count <= 1;
  const auto absorb = [&](absorbed_operand<T>& x, std::int64_t result, std::int64_t part) {
    accumulator a = Reducer::start();
    const std::int64_t from = part % cuts * piece, first = part / cuts * runs_each;
    for_each_offset(layout.reduced, first, std::min(runs, first + runs_each), [&](std::int64_t at) {
      x.read(layout.kept.offset(result) + at + from, std::min(piece, run - from),
             [&a](const T* elements, std::int64_t n) { Reducer::run(a, elements, n); });
    });
    return a;
  };
  parallel_for(k, results * partial.parts, part_size(piece * runs_each), [&](std::int64_t first, std::int64_t last) {
    absorbed_operand<T> x(k, 0, in_order ? last * run : 0);
    for (std::int64_t i = first; i < last; ++i)
      if (partial.parts == 1)
        y[i] = Reducer::finish(absorb(x, i, 0));
      else
        partial.at[i] = absorb(x, i / partial.parts, i % partial.parts);
  });
  if (partial.parts == 1) return;
  for (std::int64_t i = 0; i < results; ++i) {
    accumulator a = Reducer::start();
    for (std::int64_t p = 0; p < partial.parts; ++p) Reducer::merge(a, partial.at[i * partial.parts + p]);
    y[i] = Reducer::finish(a);
  }
}

// A tile of results absorbs rows, which are cut into parts where there are many.
template <class T, class Reducer>
void reduce_rows(const kernel_args& k, const reduction_layout& layout, T* y) {
  using accumulator = typename Reducer::accumulator;
  constexpr std::int64_t tile = 256;  // accumulators on the stack
  const std::int64_t run = layout.run, rows = layout.reduced.size(), tiles = (run + tile - 1) / tile;
  const std::int64_t rows_each = std::min(rows, part_size(std::min(run, tile), 8));
  const std::int64_t parts = rows == 0 ? 1 : (rows + rows_each - 1) / rows_each;
  const std::int64_t results = layout.kept.size() * tiles;
  const partial_results<accumulator> partial(results * tile, parts);
  const auto absorb = [&](absorbed_operand<T>& x, std::int64_t result, std::int64_t part, accumulator* a) {
    const std::int64_t begin = result % tiles * tile, n = std::min(tile, run - begin);
    const std::int64_t first = part * rows_each, last = std::min(rows, first + rows_each);
    const std::int64_t from = layout.kept.offset(result / tiles) + begin;
    std::fill_n(a, n, Reducer::start());
    if constexpr (requires(const T* e) { Reducer::rows(a, e, n, n, n); })
      if (layout.reduced.count == 1) {
        const std::int64_t stride = layout.reduced.axis[0].stride;
        return x.read_rows(
            from + first * stride, stride, last - first, n,
            [&](const T* e, std::int64_t step, std::int64_t count) { Reducer::rows(a, e, step, count, n); });
      }
    for_each_offset(layout.reduced, first, last, [&](std::int64_t at) {
      x.read(from + at, n, [&](const T* e, std::int64_t) { Reducer::row(a, e, n); });
    });
  };
  const auto finish = [&](std::int64_t result, const accumulator* a) {
    const std::int64_t begin = result % tiles * tile, n = std::min(tile, run - begin);
    T* const to = y + result / tiles * run + begin;
    for (std::int64_t i = 0; i < n; ++i) to[i] = Reducer::finish(a[i]);
  };
  parallel_for(k, results * parts, part_size(std::min(run, tile) * rows_each),
               [&](std::int64_t first, std::int64_t last) {
                 absorbed_operand<T> x(k);
                 for (std::int64_t i = first; i < last; ++i) {
                   if (parts > 1) {
                     absorb(x, i / parts, i % parts, partial.at + i * tile);
                     continue;
                   }
                   accumulator a[tile];
                   absorb(x, i, 0, a);
                   finish(i, a);
                 }
               });
  if (parts == 1) return;
  for (std::int64_t i = 0; i < results; ++i) {
    accumulator* const a = partial.at + i * parts * tile;
    const std::int64_t n = std::min(tile, run - i % tiles * tile);
    for (std::int64_t p = 1; p < parts; ++p)
      for (std::int64_t c = 0; c < n; ++c) Reducer::merge(a[c], a[p * tile + c]);
    finish(i, a);
  }
}

template <class T, template <class> class Reducer>
void reduce(const kernel_args& k) {
  if (k.out[0].size() == 0) return;
  const reduction_layout layout(k.in[0], k.attrs<ops::reduce_attrs>(), true);
  if (layout.run_is_reduced)
    reduce_runs<T, Reducer<T>>(k, layout, k.out[0].as<T>());
  else
    reduce_rows<T, Reducer<T>>(k, layout, k.out[0].as<T>());
}

template <template <class> class Reducer, class Types>
struct reduction_kernel {
  using types = Types;
  static constexpr bool in_float = true;
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
struct cpu_kernel<ops::reduce_any> : detail::reduction_kernel<detail::any_reducer, type_list<bool>> {
  static constexpr bool in_float = false;
};
template <>
struct cpu_kernel<ops::reduce_all> : detail::reduction_kernel<detail::all_reducer, type_list<bool>> {
  static constexpr bool in_float = false;
};
template <>
struct cpu_kernel<ops::logsumexp> : detail::reduction_kernel<detail::logsumexp_reducer, floating_types> {};
template <>
struct cpu_kernel<ops::norm> : detail::reduction_kernel<detail::norm_reducer, floating_types> {};

// The products of all elements before, then of all behind.
template <>
struct cpu_kernel<ops::product_of_others> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const T* x = k.in[0].as<const T>();
    T* y = k.out[0].as<T>();
    const detail::reduction_layout layout(k.in[0], k.attrs<ops::reduce_attrs>(), false);
    const std::int64_t n = layout.reduced.size();
    parallel_for(k, layout.kept.size(), part_size(n), [&](std::int64_t first, std::int64_t last) {
      detail::for_each_offset(layout.kept, first, last, [&](std::int64_t kept) {
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
    });
  }
};

// With P_k the product of the elements before k and A_k its derivative along g (A_k+1 = A_k x_k + P_k g_k), and with
// S_k and B_k the same from behind: h_k = A_k S_k + P_k B_k.
template <>
struct cpu_kernel<ops::product_of_others_gradient> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const T *x = k.in[0].as<const T>(), *g = k.in[1].as<const T>();
    T* h = k.out[0].as<T>();
    const detail::reduction_layout layout(k.in[0], k.attrs<ops::reduce_attrs>(), false);
    const std::int64_t n = layout.reduced.size();
    parallel_for(k, layout.kept.size(), part_size(n), [&](std::int64_t from, std::int64_t to) {
      T* const slope_before = detail::scratch<T>(n);
      detail::for_each_offset(layout.kept, from, to, [&](std::int64_t kept) {
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
    });
  }
};

using reduction_kernels =
    type_list<ops::reduce_sum, ops::reduce_prod, ops::reduce_max, ops::reduce_min, ops::reduce_any, ops::reduce_all,
              ops::logsumexp, ops::norm, ops::product_of_others, ops::product_of_others_gradient>;

}  // namespace flowgraph
