// Runs of floating-point elements, as many at once as there are lanes: what kernels do with the pixels, rows and lines
// that lie together.
#pragma once
#include <concepts>
#include <cstdint>

#include "lanes.hpp"

namespace flowgraph::detail {

// y[i] = f(x[i]...) for n elements; y may be one of x.
template <class T, class F, class... X>
void compute_run(T* y, std::int64_t n, const F& f, const X*... x) {
  std::int64_t i = 0;
  for (; i + lane_count<T> <= n; i += lane_count<T>) lanes<T>(f(lanes<T>::load(x + i)...)).store(y + i);
  if constexpr (has_partial_lanes<T>) {
    const int rest = static_cast<int>(n - i);
    if (rest > 0) lanes<T>(f(lanes<T>::load(x + i, rest)...)).store(y + i, rest);
  } else {
    for (; i < n; ++i) y[i] = lanes<T>(f(lanes<T>(x[i])...)).p[0];
  }
}

template <class T>
void add_run(T* y, const T* x, std::int64_t n) {
  compute_run(
      y, n, [](const lanes<T>& a, const lanes<T>& b) { return a + b; }, y, x);
}
// y += x by
template <class T>
void add_scaled_run(T* y, const T* x, T by, std::int64_t n) {
  const lanes<T> all(by);
  compute_run(
      y, n, [&](const lanes<T>& a, const lanes<T>& b) { return multiply_add(b, all, a); }, y, x);
}
template <class T>
void divide_run(T* y, T by, std::int64_t n) {
  const lanes<T> all(by);
  compute_run(
      y, n, [&](const lanes<T>& a) { return a / all; }, y);
}

// Of several sums, which wait for each other less than one would; always in the same order. term(x) of lanes; of
// `nothing` it is 0.
template <class T, class F>
T sum_run(const T* x, std::int64_t n, T nothing, const F& term) {
  constexpr std::int64_t width = lane_count<T>;
  const std::int64_t whole = n / width * width;
  lanes<T> a(T(0)), b(T(0)), c(T(0)), d(T(0));
  T rest = 0;
  if constexpr (has_partial_lanes<T>) {  // first, because nothing has to wait for it
    if (whole < n) d = term(lanes<T>::load(x + whole, static_cast<int>(n - whole), nothing));
  } else {
    for (std::int64_t i = whole; i < n; ++i) rest += lanes<T>(term(lanes<T>(x[i]))).p[0];
  }
  std::int64_t i = 0;
  for (; i + 4 * width <= whole; i += 4 * width) {
    a = a + term(lanes<T>::load(x + i));
    b = b + term(lanes<T>::load(x + i + width));
    c = c + term(lanes<T>::load(x + i + 2 * width));
    d = d + term(lanes<T>::load(x + i + 3 * width));
  }
  if (i < whole) a = a + term(lanes<T>::load(x + i));
  if (i + width < whole) b = b + term(lanes<T>::load(x + i + width));
  if (i + 2 * width < whole) c = c + term(lanes<T>::load(x + i + 2 * width));
  return sum_of((a + b) + (c + d)) + rest;
}
template <class T>
T sum_run(const T* x, std::int64_t n) {
  return sum_run(x, n, T(0), [](const lanes<T>& v) { return v; });
}

// to[i] += x[i], a number for each lane.
FLOWGRAPH_ONE_STEP inline void add_lanes(double* to, const lanes<double>& x) {
  (lanes<double>::load(to) + x).store(to);
}
template <std::same_as<float> T>
FLOWGRAPH_IN_LOOPS void add_lanes(double* to, const lanes<T>& x) {
  constexpr int half = lane_count<T> / 2;
  const auto widen = [](const auto& part) { return lanes<double>(__builtin_convertvector(part, packet<double>)); };
  const packet<T>& p = x.p;
  if constexpr (half == 8) {
    add_lanes(to, widen(__builtin_shufflevector(p, p, 0, 1, 2, 3, 4, 5, 6, 7)));
    add_lanes(to + half, widen(__builtin_shufflevector(p, p, 8, 9, 10, 11, 12, 13, 14, 15)));
  } else if constexpr (half == 4) {
    add_lanes(to, widen(__builtin_shufflevector(p, p, 0, 1, 2, 3)));
    add_lanes(to + half, widen(__builtin_shufflevector(p, p, 4, 5, 6, 7)));
  } else {
    add_lanes(to, widen(__builtin_shufflevector(p, p, 0, 1)));
    add_lanes(to + half, widen(__builtin_shufflevector(p, p, 2, 3)));
  }
}

}  // namespace flowgraph::detail
