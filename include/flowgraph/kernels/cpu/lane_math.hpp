// The vocabulary of scalar functions for as many floating-point numbers as the processor computes at once. Both the
// tiles of graphs built at run time and the regions that a session<model> compiles are made of it.
#pragma once
#include <limits>
#include <type_traits>

#include "lane_functions.hpp"
#include "lanes.hpp"
#include "math.hpp"

namespace flowgraph::detail {

struct lane_math {
  template <class T>
  static constexpr bool narrow = std::is_same_v<T, float>;

  template <class T>
  static lanes<T> like(const lanes<T>&, double v) {
    return lanes<T>(static_cast<T>(v));
  }
  template <class T>
  static lanes<T> abs(const lanes<T>& x) {
    return with_bits<T>(bits_of<T>(x.p) & ~bits_of<T>(all_lanes<T>(-T(0))));
  }
  // NaN stays NaN.
  template <class T>
  static lanes<T> sign(const lanes<T>& x) {
    const lanes<T> zero = like(x, 0);
    return select(less(x, zero), like(x, -1), select(less(zero, x), like(x, 1), x));
  }
  template <class T>
  static lanes<T> sqrt(const lanes<T>& x) {
    return sqrt_lanes(x);
  }
  template <class T>
  static lanes<T> rsqrt(const lanes<T>& x) {
    return reciprocal(sqrt(x));
  }
  template <class T>
  static lanes<T> reciprocal(const lanes<T>& x) {
    return div(like(x, 1), x);
  }
  template <class T>
  static lanes<T> sigmoid(const lanes<T>& x) {
    return reciprocal(like(x, 1) + exp(-x));
  }
#define FLOWGRAPH_LANE_MATH(name, lanes_too, function)                     \
  template <class T>                                                       \
  static lanes<T> name(const lanes<T>& x) {                                \
    if constexpr (lanes_too)                                               \
      return function(x);                                                  \
    else                                                                   \
      return lane_by_lane<T>([](T v) { return scalar_math::name(v); }, x); \
  }
  FLOWGRAPH_LANE_MATH(exp, true, exp_lanes)
  FLOWGRAPH_LANE_MATH(log, true, log_lanes)
  FLOWGRAPH_LANE_MATH(log1p, narrow<T>, log1p_lanes)
  FLOWGRAPH_LANE_MATH(expm1, narrow<T>, expm1_lanes)
  FLOWGRAPH_LANE_MATH(tanh, narrow<T>, tanh_lanes)
  FLOWGRAPH_LANE_MATH(sin, narrow<T>, wave_lanes<true>)
  FLOWGRAPH_LANE_MATH(cos, narrow<T>, wave_lanes<false>)
  FLOWGRAPH_LANE_MATH(floor, true, whole_lanes<rounding::down>)
  FLOWGRAPH_LANE_MATH(ceil, true, whole_lanes<rounding::up>)
  FLOWGRAPH_LANE_MATH(round, true, whole_lanes<rounding::nearest>)
#undef FLOWGRAPH_LANE_MATH
#define FLOWGRAPH_LANE_MATH(name)                                        \
  template <class T>                                                     \
  static lanes<T> name(const lanes<T>& x) {                              \
    return lane_by_lane<T>([](T v) { return scalar_math::name(v); }, x); \
  }
  FLOWGRAPH_LANE_MATH(tan)
  FLOWGRAPH_LANE_MATH(erf)
#undef FLOWGRAPH_LANE_MATH
#define FLOWGRAPH_LANE_MATH(name)                                                   \
  template <class T>                                                                \
  static lanes<T> name(const lanes<T>& x, const lanes<T>& y) {                      \
    return lane_by_lane<T>([](T a, T b) { return scalar_math::name(a, b); }, x, y); \
  }
  FLOWGRAPH_LANE_MATH(floordiv)
  FLOWGRAPH_LANE_MATH(mod)
  FLOWGRAPH_LANE_MATH(pow)
#undef FLOWGRAPH_LANE_MATH

  template <class T>
  static lanes<T> div(const lanes<T>& x, const lanes<T>& y) {
    return x / y;
  }
  // A NaN in either wins.
  template <class T>
  static lanes<T> max(const lanes<T>& x, const lanes<T>& y) {
    const packet<T> greater = greater_or_first<T>(y.p, x.p);
    return x.p == x.p ? greater : x.p;
  }
  template <class T>
  static lanes<T> min(const lanes<T>& x, const lanes<T>& y) {
    const packet<T> less = less_or_first<T>(y.p, x.p);
    return x.p == x.p ? less : x.p;
  }
  template <class T>
  static lanes<T> select(const lane_mask<T>& c, const lanes<T>& x, const lanes<T>& y) {
    return c.bits() ? x.p : y.p;
  }
  template <class T>
  static lane_mask<T> isnan(const lanes<T>& x) {
    return not_equal(x, x);
  }
  template <class T>
  static lane_mask<T> isfinite(const lanes<T>& x) {
    return less(abs(x), like(x, std::numeric_limits<T>::infinity()));
  }
  template <class T>
  static lane_mask<T> equal(const lanes<T>& x, const lanes<T>& y) {
    return lane_mask<T>::from(x.p == y.p);
  }
  template <class T>
  static lane_mask<T> not_equal(const lanes<T>& x, const lanes<T>& y) {
    return !equal(x, y);
  }
  template <class T>
  static lane_mask<T> less(const lanes<T>& x, const lanes<T>& y) {
    return lane_mask<T>::from(x.p < y.p);
  }
  template <class T>
  static lane_mask<T> less_equal(const lanes<T>& x, const lanes<T>& y) {
    return lane_mask<T>::from(x.p <= y.p);
  }

  // Of truth values.
  template <class T>
  static lane_mask<T> select(const lane_mask<T>& c, const lane_mask<T>& x, const lane_mask<T>& y) {
    return (c & x) | (!c & y);
  }
  template <class T>
  static lane_mask<T> equal(const lane_mask<T>& x, const lane_mask<T>& y) {
    return !(x ^ y);
  }
  template <class T>
  static lane_mask<T> not_equal(const lane_mask<T>& x, const lane_mask<T>& y) {
    return x ^ y;
  }
  template <class T>
  static lane_mask<T> logical_not(const lane_mask<T>& x) {
    return !x;
  }
  template <class T>
  static lane_mask<T> logical_and(const lane_mask<T>& x, const lane_mask<T>& y) {
    return x & y;
  }
  template <class T>
  static lane_mask<T> logical_or(const lane_mask<T>& x, const lane_mask<T>& y) {
    return x | y;
  }
};

}  // namespace flowgraph::detail
