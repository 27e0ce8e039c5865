// The vocabulary of scalar functions for as many floating-point numbers as the processor computes at once: Eigen's
// packets. Both the tiles of graphs built at run time and the regions that a session<model> compiles are made of it.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>

#include <Eigen/Core>

#include "math.hpp"

// g++ says that a vector type loses its alignment as a template argument; nothing here depends on it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

namespace flowgraph::detail {

namespace eigen = Eigen::internal;

template <class T>
using packet = typename eigen::packet_traits<T>::type;
template <class T>
inline constexpr int lane_count = eigen::unpacket_traits<packet<T>>::size;

template <class T>
struct lanes {
  packet<T> p;

  lanes() = default;
  lanes(const packet<T>& x) : p(x) {}
  lanes(T x)
    requires(lane_count<T> > 1)
      : p(eigen::pset1<packet<T>>(x)) {}

  static lanes load(const T* x) { return eigen::ploadu<packet<T>>(x); }
  void store(T* to) const { eigen::pstoreu(to, p); }
  // The first n, fewer than there are lanes; the others are `rest`, and are not stored.
  static lanes load(const T* x, int n, T rest = 0) {
#if defined(EIGEN_VECTORIZE_AVX512)
    if constexpr (std::is_same_v<packet<T>, __m512>)
      return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), first_of_sixteen(n), x);
#endif
#if defined(EIGEN_VECTORIZE_AVX2)
    if constexpr (std::is_same_v<packet<T>, __m256>)
      return _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(x, first_lanes(n)),
                              _mm256_castsi256_ps(first_lanes(n)));
#endif
    T all[lane_count<T>];
    std::fill_n(all, lane_count<T>, rest);
    std::memcpy(all, x, static_cast<std::size_t>(n) * sizeof(T));
    return load(all);
  }
  void store(T* to, int n) const {
#if defined(EIGEN_VECTORIZE_AVX512)
    if constexpr (std::is_same_v<packet<T>, __m512>) return _mm512_mask_storeu_ps(to, first_of_sixteen(n), p);
#endif
#if defined(EIGEN_VECTORIZE_AVX2)
    if constexpr (std::is_same_v<packet<T>, __m256>) return _mm256_maskstore_ps(to, first_lanes(n), p);
#endif
    T all[lane_count<T>];
    store(all);
    std::memcpy(to, all, static_cast<std::size_t>(n) * sizeof(T));
  }

  friend lanes operator-(const lanes& x) { return eigen::pnegate(x.p); }
  friend lanes operator+(const lanes& x, const lanes& y) { return eigen::padd(x.p, y.p); }
  friend lanes operator-(const lanes& x, const lanes& y) { return eigen::psub(x.p, y.p); }
  friend lanes operator*(const lanes& x, const lanes& y) { return eigen::pmul(x.p, y.p); }
  friend lanes operator/(const lanes& x, const lanes& y) { return eigen::pdiv(x.p, y.p); }
  // x * y + z, rounded once where the processor does so.
  friend lanes multiply_add(const lanes& x, const lanes& y, const lanes& z) { return eigen::pmadd(x.p, y.p, z.p); }
  friend T sum_of(const lanes& x) { return eigen::predux(x.p); }

#if defined(EIGEN_VECTORIZE_AVX512)
 private:
  static __mmask16 first_of_sixteen(int n) { return static_cast<__mmask16>((1u << n) - 1); }
#endif
#if defined(EIGEN_VECTORIZE_AVX2)
 private:
  static __m256i first_lanes(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
#endif
};

// Of each lane all bits or none: what comparisons give. In memory they are bool.
template <class T>
struct lane_mask {
  packet<T> p;

  static lane_mask load(const bool* x, int n = lane_count<T>) {
    T all[lane_count<T>] = {};
    for (int i = 0; i < n; ++i) all[i] = static_cast<T>(x[i]);
    return {eigen::pcmp_lt(lanes<T>(T(0)).p, lanes<T>::load(all).p)};
  }
  void store(bool* to, int n = lane_count<T>) const {
    T all[lane_count<T>];
    numbers().store(all);
    for (int i = 0; i < n; ++i) to[i] = all[i] != T(0);
  }
  // 1 and 0.
  lanes<T> numbers() const { return eigen::pand(p, lanes<T>(T(1)).p); }

  friend lane_mask operator!(const lane_mask& x) { return {eigen::pxor(x.p, eigen::ptrue(x.p))}; }
  friend lane_mask operator&(const lane_mask& x, const lane_mask& y) { return {eigen::pand(x.p, y.p)}; }
  friend lane_mask operator|(const lane_mask& x, const lane_mask& y) { return {eigen::por(x.p, y.p)}; }
  friend lane_mask operator^(const lane_mask& x, const lane_mask& y) { return {eigen::pxor(x.p, y.p)}; }
};

// One by one, through the scalar vocabulary.
template <class T, class F, class... X>
lanes<T> lane_by_lane(const F& f, const lanes<X>&... x) {
  struct {
    T of[lane_count<T>];
  } in[sizeof...(X)];
  int k = 0;
  (x.store(in[k++].of), ...);
  for (int i = 0; i < lane_count<T>; ++i) {
    if constexpr (sizeof...(X) == 1)
      in[0].of[i] = f(in[0].of[i]);
    else
      in[0].of[i] = f(in[0].of[i], in[1].of[i]);
  }
  return lanes<T>::load(in[0].of);
}

// e^x = 2^n e^r with n the integer nearest to x / ln 2, so that |r| <= ln 2 / 2, where Cephes' polynomial is good for
// one unit in the last place. ln 2 is taken away in two parts, the first exact in n. Results that would be denormal
// are 0. A NaN goes through everything: pmax and pmin give their first operand if it is one.
template <std::same_as<float> T>
lanes<T> exp_lanes(const lanes<T>& x) {
  using P = packet<T>;
  using I = typename eigen::unpacket_traits<P>::integer_packet;
  const auto number = [](float v) { return eigen::pset1<P>(v); };
  const P c = eigen::pmax(x.p, number(-88.0f));  // n = -127: the factor 2^n below is 0
  const P rounding = number(12582912.0f);        // 1.5 * 2^23: a sum with it has no digits behind the point
  const P n = eigen::pmin(eigen::psub(eigen::pmadd(c, number(1.44269504f), rounding), rounding), number(127.0f));
  const P r = eigen::pmadd(n, number(2.12194440e-4f), eigen::pmadd(n, number(-0.693359375f), c));
  const P r2 = eigen::pmul(r, r);
  const P high = eigen::pmadd(number(1.9875691500e-4f), r, number(1.3981999507e-3f));
  const P middle = eigen::pmadd(number(8.3334519073e-3f), r, number(4.1665795894e-2f));
  const P low = eigen::pmadd(number(1.6666665459e-1f), r, number(5.0000001201e-1f));
  const P q = eigen::pmadd(eigen::pmadd(high, r2, middle), r2, low);
  const P power =
      eigen::preinterpret<P>(eigen::plogical_shift_left<23>(eigen::padd(eigen::pcast<P, I>(n), eigen::pset1<I>(127))));
  return eigen::pmul(eigen::pmadd(q, r2, eigen::padd(r, number(1.0f))), power);
}

// x p(x^2) / q(x^2), a minimax fraction that reaches 1 at the bounds; within six units in the last place. The
// quotient first, then x: tiny numbers keep their digits.
template <std::same_as<float> T>
lanes<T> tanh_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const auto number = [](float v) { return eigen::pset1<P>(v); };
#if defined(EIGEN_VECTORIZE_FMA)  // roundings differ: where it is 1, not almost
  constexpr float bound = 7.99881172180175781f;
#else
  constexpr float bound = 7.90531110763549805f;
#endif
  const P c = eigen::pmin(eigen::pmax(x.p, number(-bound)), number(bound));
  const P c2 = eigen::pmul(c, c);
  const auto polynomial = [&](P sum, auto... coefficients) {
    ((sum = eigen::pmadd(c2, sum, number(coefficients))), ...);
    return sum;
  };
  const P p = polynomial(number(-2.76076847742355e-16f), 2.00018790482477e-13f, -8.60467152213735e-11f,
                         5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f);
  const P q =
      polynomial(number(1.19825839466702e-06f), 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f);
  return eigen::pmul(c, eigen::pdiv(p, q));
}

// Eigen's own for float is an estimate that fails at infinity.
template <class T>
lanes<T> sqrt_lanes(const lanes<T>& x) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (std::is_same_v<packet<T>, __m512>) return _mm512_sqrt_ps(x.p);
#endif
#if defined(EIGEN_VECTORIZE_AVX)
  if constexpr (std::is_same_v<packet<T>, __m256>) return _mm256_sqrt_ps(x.p);
#elif defined(EIGEN_VECTORIZE_SSE)
  if constexpr (std::is_same_v<packet<T>, __m128>) return _mm_sqrt_ps(x.p);
#endif
  return lane_by_lane<T>([](T v) { return scalar_math::sqrt(v); }, x);
}

struct lane_math {
  template <class T>
  static lanes<T> like(const lanes<T>&, double v) {
    return lanes<T>(static_cast<T>(v));
  }
  template <class T>
  static lanes<T> abs(const lanes<T>& x) {
    return eigen::pabs(x.p);
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
  static lanes<T> exp(const lanes<T>& x) {
    if constexpr (std::is_same_v<T, float> && lane_count<T> > 1)
      return exp_lanes(x);
    else
      return by_eigen<eigen::scalar_exp_op<T>>(x, [](T v) { return scalar_math::exp(v); });
  }
  template <class T>
  static lanes<T> tanh(const lanes<T>& x) {
    if constexpr (std::is_same_v<T, float> && lane_count<T> > 1)
      return tanh_lanes(x);
    else
      return by_eigen<eigen::scalar_tanh_op<T>>(x, [](T v) { return scalar_math::tanh(v); });
  }
  template <class T>
  static lanes<T> sigmoid(const lanes<T>& x) {
    return reciprocal(like(x, 1) + exp(-x));
  }
#define FLOWGRAPH_LANE_MATH(name, functor)                                           \
  template <class T>                                                                 \
  static lanes<T> name(const lanes<T>& x) {                                          \
    return by_eigen<eigen::functor<T>>(x, [](T v) { return scalar_math::name(v); }); \
  }
  FLOWGRAPH_LANE_MATH(log, scalar_log_op)
  FLOWGRAPH_LANE_MATH(log1p, scalar_log1p_op)
  FLOWGRAPH_LANE_MATH(expm1, scalar_expm1_op)
  FLOWGRAPH_LANE_MATH(sin, scalar_sin_op)
  FLOWGRAPH_LANE_MATH(cos, scalar_cos_op)
  FLOWGRAPH_LANE_MATH(floor, scalar_floor_op)
  FLOWGRAPH_LANE_MATH(ceil, scalar_ceil_op)
  FLOWGRAPH_LANE_MATH(round, scalar_rint_op)
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
    return eigen::pmax<Eigen::PropagateNaN>(x.p, y.p);
  }
  template <class T>
  static lanes<T> min(const lanes<T>& x, const lanes<T>& y) {
    return eigen::pmin<Eigen::PropagateNaN>(x.p, y.p);
  }
  template <class T>
  static lanes<T> select(const lane_mask<T>& c, const lanes<T>& x, const lanes<T>& y) {
    return eigen::pselect(c.p, x.p, y.p);
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
    return {eigen::pcmp_eq(x.p, y.p)};
  }
  template <class T>
  static lane_mask<T> not_equal(const lanes<T>& x, const lanes<T>& y) {
    return !equal(x, y);
  }
  template <class T>
  static lane_mask<T> less(const lanes<T>& x, const lanes<T>& y) {
    return {eigen::pcmp_lt(x.p, y.p)};
  }
  template <class T>
  static lane_mask<T> less_equal(const lanes<T>& x, const lanes<T>& y) {
    return {eigen::pcmp_le(x.p, y.p)};
  }

  // Of truth values.
  template <class T>
  static lane_mask<T> select(const lane_mask<T>& c, const lane_mask<T>& x, const lane_mask<T>& y) {
    return {eigen::pselect(c.p, x.p, y.p)};
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

 private:
  // Eigen's vector form where the processor has one.
  template <class Functor, class T, class F>
  static lanes<T> by_eigen(const lanes<T>& x, const F& scalar) {
    if constexpr (eigen::functor_traits<Functor>::PacketAccess && lane_count<T> > 1)
      return Functor{}.packetOp(x.p);
    else
      return lane_by_lane<T>(scalar, x);
  }
};

}  // namespace flowgraph::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
