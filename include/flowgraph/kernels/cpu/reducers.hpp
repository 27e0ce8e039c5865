// What each reduction does with the elements it meets. A reducer absorbs a contiguous run into one accumulator, or
// rows of elements into as many accumulators, and merges accumulators of neighbouring parts. Sums of float go through
// double, so that their error does not grow with the number of elements; integers go through std::uint64_t, where
// wrapping is defined.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lane_math.hpp"
#include "runs.hpp"

namespace flowgraph::detail {

template <class T>
using sum_type = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// The greatest of n elements, or the least; a NaN, if there is one.
template <class T, bool Greatest>
T extreme_of(const T* x, std::int64_t n) {
  const auto first = [](const auto& a, const auto& b) { return Greatest ? b > a : b < a; };
  std::int64_t i = 0;
  T best = x[0];
  if constexpr (std::is_floating_point_v<T>) {
    const auto further = [&](const auto& a, const auto& b) {  // b, or a where it is NaN or the further one
      const auto other = first(b, a) ? a : b;
      return a == a ? other : a;
    };
    constexpr std::int64_t width = lane_count<T>;
    if (n >= 4 * width) {
      const auto at = [&](std::int64_t k) { return lanes<T>::load(x + k).p; };
      packet<T> a = at(0), b = at(width), c = at(2 * width), d = at(3 * width);
      for (i = 4 * width; i + 4 * width <= n; i += 4 * width) {
        a = further(a, at(i));
        b = further(b, at(i + width));
        c = further(c, at(i + 2 * width));
        d = further(d, at(i + 3 * width));
      }
      best = across_lanes<T>(further(further(a, b), further(c, d)), further);
    }
  }
  for (; i < n; ++i) best = first(best, x[i]) || x[i] != x[i] ? x[i] : best;
  return best;
}

template <class T>
struct sum_reducer {
  using accumulator = sum_type<T>;
  static accumulator start() { return 0; }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr std::int64_t block = 1024;  // short enough for vectorised sums in T
      for (std::int64_t i = 0; i < n; i += block) a += sum_run(x + i, n - i < block ? n - i : block);
    } else {
      for (std::int64_t i = 0; i < n; ++i) a += static_cast<accumulator>(x[i]);
    }
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    std::int64_t i = 0;
    if constexpr (std::is_floating_point_v<T>)
      for (; i + lane_count<T> <= n; i += lane_count<T>) add_lanes(a + i, lanes<T>::load(x + i));
    for (; i < n; ++i) a[i] += static_cast<accumulator>(x[i]);
  }
  // Eight at a time: few enough for sums in T.
  static void rows(accumulator* a, const T* x, std::int64_t stride, std::int64_t count, std::int64_t n) {
    if constexpr (std::is_floating_point_v<T>) {
      for (; count >= 8; count -= 8, x += 8 * stride) {
        std::int64_t i = 0;
        for (; i + lane_count<T> <= n; i += lane_count<T>) {
          const auto line = [&](std::int64_t k) { return lanes<T>::load(x + k * stride + i); };
          add_lanes(a + i, ((line(0) + line(1)) + (line(2) + line(3))) + ((line(4) + line(5)) + (line(6) + line(7))));
        }
        for (; i < n; ++i) {
          const auto line = [&](std::int64_t k) { return x[k * stride + i]; };
          a[i] += static_cast<accumulator>(((line(0) + line(1)) + (line(2) + line(3))) +
                                           ((line(4) + line(5)) + (line(6) + line(7))));
        }
      }
    }
    for (; count > 0; --count, x += stride) row(a, x, n);
  }
  static void merge(accumulator& a, accumulator b) { a += b; }
  static T finish(accumulator a) { return static_cast<T>(a); }
};

template <class T>
struct prod_reducer {
  using accumulator = sum_type<T>;
  static accumulator start() { return 1; }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a *= static_cast<accumulator>(x[i]);
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] *= static_cast<accumulator>(x[i]);
  }
  static void merge(accumulator& a, accumulator b) { a *= b; }
  static T finish(accumulator a) { return static_cast<T>(a); }
};

// Of nothing: minus infinity, or the least integer.
template <class T>
struct max_reducer {
  using accumulator = T;
  static accumulator start() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    if (n == 0) return;
    const T m = extreme_of<T, true>(x, n);
    if (m > a || m != m) a = m;  // no number takes the place of a NaN
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = x[i] > a[i] || x[i] != x[i] ? x[i] : a[i];
  }
  static void merge(accumulator& a, accumulator b) { row(&a, &b, 1); }
  static T finish(accumulator a) { return a; }
};

template <class T>
struct min_reducer {
  using accumulator = T;
  static accumulator start() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    if (n == 0) return;
    const T m = extreme_of<T, false>(x, n);
    if (m < a || m != m) a = m;
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = x[i] < a[i] || x[i] != x[i] ? x[i] : a[i];
  }
  static void merge(accumulator& a, accumulator b) { row(&a, &b, 1); }
  static T finish(accumulator a) { return a; }
};

template <class T>
struct any_reducer {
  using accumulator = T;
  static accumulator start() { return false; }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n && !a; ++i) a = x[i];
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = a[i] || x[i];
  }
  static void merge(accumulator& a, accumulator b) { a = a || b; }
  static T finish(accumulator a) { return a; }
};

template <class T>
struct all_reducer {
  using accumulator = T;
  static accumulator start() { return true; }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n && a; ++i) a = x[i];
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = a[i] && x[i];
  }
  static void merge(accumulator& a, accumulator b) { a = a && b; }
  static T finish(accumulator a) { return a; }
};

// Keeps sum(exp(x - greatest)), rescaled whenever a greater element is met.
template <class T>
struct logsumexp_reducer {
  struct accumulator {
    double greatest;
    double sum;
  };
  static accumulator start() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    if (n == 0) return;
    const T m = extreme_of<T, true>(x, n);
    raise(a, m);
    if (!std::isfinite(a.greatest)) return;
    constexpr std::int64_t block = 1024;
    const T shift = static_cast<T>(a.greatest);
    for (std::int64_t i = 0; i < n; i += block)
      a.sum += sum_run(x + i, n - i < block ? n - i : block, -std::numeric_limits<T>::infinity(),
                       [&](const lanes<T>& v) { return lane_math::exp(v - lanes<T>(shift)); });
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      raise(a[i], x[i]);
      if (std::isfinite(a[i].greatest)) a[i].sum += std::exp(x[i] - a[i].greatest);
    }
  }
  static void merge(accumulator& a, const accumulator& b) {
    raise(a, b.greatest);
    if (std::isfinite(a.greatest) && std::isfinite(b.greatest)) a.sum += b.sum * std::exp(b.greatest - a.greatest);
  }
  static T finish(const accumulator& a) {
    return static_cast<T>(std::isfinite(a.greatest) ? a.greatest + std::log(a.sum) : a.greatest);
  }

 private:
  static void raise(accumulator& a, double x) {
    if (x <= a.greatest || std::isnan(a.greatest)) return;
    if (std::isfinite(a.greatest)) a.sum *= std::exp(a.greatest - x);
    a.greatest = x;  // NaN and infinity stay: they are the result
  }
};

template <class T>
struct norm_reducer {
  using accumulator = double;
  static accumulator start() { return 0; }
  static void run(accumulator& a, const T* x, std::int64_t n) {
    double sum[8] = {};
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; ++k) sum[k] += static_cast<double>(x[i + k]) * static_cast<double>(x[i + k]);
    for (; i < n; ++i) sum[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    a += ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
  static void row(accumulator* a, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  static void merge(accumulator& a, accumulator b) { a += b; }
  static T finish(accumulator a) { return static_cast<T>(std::sqrt(a)); }
};

}  // namespace flowgraph::detail
