// Softmax and its losses: rows along the innermost axis, columns along another one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/softmax.hpp>
#include "lane_math.hpp"
#include "runs.hpp"

namespace flowgraph {

namespace detail {

// Lines along an axis are contiguous rows, or columns of a matrix whose rows are contiguous.
struct softmax_lines {
  std::int64_t outer = 1, n, inner = 1;

  softmax_lines(const array_view& x, std::int64_t axis) : n(x.dim(static_cast<int>(axis))) {
    for (int i = 0; i < axis; ++i) outer *= x.dim(i);
    for (int i = static_cast<int>(axis) + 1; i < x.rank; ++i) inner *= x.dim(i);
  }
};

template <class T>
struct exp_sum {
  T greatest, sum;
};

// y = exp(x - greatest of the row) for a row of n elements, and their sum. The greatest is taken from all of them
// first, so that no exp overflows and one of them is 1. y may be x; null: only the sum is wanted.
template <class T>
exp_sum<T> exp_row(const T* x, T* y, std::int64_t n) {
  constexpr std::int64_t width = lane_count<T>;
  constexpr T least = -std::numeric_limits<T>::infinity();
  const std::int64_t whole = n / width * width;
  const int rest = static_cast<int>(n - whole);
  const lanes<T> last = rest == 0 ? lanes<T>(least) : lanes<T>::load(x + whole, rest, least);
  lanes<T> greatest = last;
  for (std::int64_t i = 0; i < whole; i += width) greatest = greater_or_first<T>(lanes<T>::load(x + i).p, greatest.p);
  const lanes<T> shift(greatest_of(greatest));
  lanes<T> sum(T(0));
  for (std::int64_t i = 0; i < whole; i += width) {
    const lanes<T> e = lane_math::exp(lanes<T>::load(x + i) - shift);
    if (y != nullptr) e.store(y + i);
    sum = sum + e;
  }
  if (rest > 0) {
    const lanes<T> e = lane_math::exp(last - shift);
    if (y != nullptr) e.store(y + whole, rest);
    sum = sum + e;
  }
  return {shift.p[0], sum_of(sum)};
}

// f(row)
template <class F>
void for_each_row(const kernel_args& k, std::int64_t rows, std::int64_t n, const F& f) {
  constexpr std::int64_t exp_work = 8;
  parallel_for(k, rows, part_size(exp_work * n), [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) f(first);
  });
}

// finish(e, greatest, of_sum(sum)) gives the result's lanes, from those of e = exp(x - greatest); or with ReadsX, which
// keeps no e, from those of x.
template <class T, bool ReadsX, class Finish>
void softmax_along(const kernel_args& k, const Finish& finish) {
  using L = lanes<T>;
  const softmax_lines lines(k.in[0], k.attrs<ops::axis_attrs>().axis);
  const T* const x = k.in[0].as<const T>();
  T* const y = k.out[0].as<T>();
  const std::int64_t n = lines.n;
  if (k.in[0].size() == 0) return;
  if (lines.inner == 1) {
    for_each_row(k, lines.outer, n, [&](std::int64_t row) {
      const T* const from = x + row * n;
      T* const to = y + row * n;
      const auto [most, all] = exp_row(from, ReadsX ? nullptr : to, n);
      const L greatest(most), sum = finish.of_sum(L(all));
      compute_run(
          to, n, [&](const L& v) { return finish(v, greatest, sum); }, ReadsX ? from : to);
    });
    return;
  }
  // Of several columns, the elements of a line lie together.
  constexpr std::int64_t tile = 256, exp_work = 8;
  const std::int64_t tiles = (lines.inner + tile - 1) / tile;
  parallel_for(k, lines.outer * tiles, part_size(exp_work * n * std::min(tile, lines.inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 T greatest[tile], sum[tile];
                 for (std::int64_t part = begin; part < end; ++part) {
                   const std::int64_t column = part % tiles * tile, count = std::min(tile, lines.inner - column);
                   const std::int64_t at = part / tiles * n * lines.inner + column;
                   const auto from = [&](std::int64_t i) { return x + at + i * lines.inner; };
                   const auto to = [&](std::int64_t i) { return y + at + i * lines.inner; };
                   std::copy_n(from(0), count, greatest);
                   std::fill_n(sum, count, T(0));
                   for (std::int64_t i = 1; i < n; ++i)
                     compute_run(
                         greatest, count, [](const L& a, const L& b) { return L(greater_or_first<T>(b.p, a.p)); },
                         greatest, from(i));
                   for (std::int64_t i = 0; i < n; ++i) {
                     const auto power = [](const L& v, const L& most) { return lane_math::exp(v - most); };
                     if constexpr (ReadsX) {
                       compute_run(
                           sum, count, [&](const L& s, const L& v, const L& most) { return s + power(v, most); }, sum,
                           from(i), greatest);
                     } else {
                       compute_run(to(i), count, power, from(i), greatest);
                       add_run(sum, to(i), count);
                     }
                   }
                   compute_run(
                       sum, count, [&](const L& s) { return finish.of_sum(s); }, sum);
                   for (std::int64_t i = 0; i < n; ++i)
                     compute_run(to(i), count, finish, ReadsX ? from(i) : to(i), greatest, sum);
                 }
               });
}

// e / sum
template <class T>
struct share_of_sum {
  lanes<T> of_sum(const lanes<T>& sum) const { return sum; }
  lanes<T> operator()(const lanes<T>& e, const lanes<T>&, const lanes<T>& sum) const { return e / sum; }
};
// x - greatest - log(sum)
template <class T>
struct log_of_share {
  lanes<T> of_sum(const lanes<T>& sum) const { return lane_math::log(sum); }
  lanes<T> operator()(const lanes<T>& x, const lanes<T>& greatest, const lanes<T>& log) const {
    return (x - greatest) - log;
  }
};

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

template <>
struct cpu_kernel<ops::softmax> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    detail::softmax_along<T, false>(k, detail::share_of_sum<T>{});
  }
};

template <>
struct cpu_kernel<ops::log_softmax> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    detail::softmax_along<T, true>(k, detail::log_of_share<T>{});
  }
};

template <>
struct cpu_kernel<ops::sparse_softmax_cross_entropy> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t classes = k.in[0].last(0);
    const detail::label_reader labels(k.in[1], classes);
    const T* const x = k.in[0].as<const T>();
    T* const loss = k.out[0].as<T>();
    detail::for_each_row(k, k.in[1].size(), classes, [&](std::int64_t i) {
      const T* const row = x + i * classes;
      const auto [greatest, sum] = detail::exp_row<T>(row, nullptr, classes);
      loss[i] = std::log(sum) - (row[labels[i]] - greatest);
    });
  }
};

template <>
struct cpu_kernel<ops::softmax_minus_one_hot> {
  using types = floating_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t classes = k.in[0].last(0);
    const detail::label_reader labels(k.in[1], classes);
    const T* const x = k.in[0].as<const T>();
    T* const y = k.out[0].as<T>();
    detail::for_each_row(k, k.in[1].size(), classes, [&](std::int64_t i) {
      T* const row = y + i * classes;
      const T sum = detail::exp_row(x + i * classes, row, classes).sum;
      detail::divide_run(row, sum, classes);
      row[labels[i]] -= T(1);
    });
  }
};

using softmax_kernels =
    type_list<ops::softmax, ops::log_softmax, ops::sparse_softmax_cross_entropy, ops::softmax_minus_one_hot>;

}  // namespace flowgraph
