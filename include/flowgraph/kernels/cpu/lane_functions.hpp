// Exponential and its kin for as many numbers as there are lanes, by polynomials. Those of double that are not here are
// computed number by number.
#pragma once
#include <concepts>
#include <cstdint>
#include <limits>

#include "lanes.hpp"
#include "math.hpp"

namespace flowgraph::detail {

// (((first x + second) x + third) x + ...), each step rounded once where the processor does so.
template <class T, std::same_as<T>... More>
FLOWGRAPH_ONE_STEP inline packet<T> polynomial(const packet<T>& x, T first, T second, More... more) {
  packet<T> sum = fused<T>(x, first, second);
  ((sum = fused<T>(sum, x, all_lanes<T>(more))), ...);
  return sum;
}

// e^x = 2^n e^r with n the integer nearest to x / ln 2, so that |r| <= ln 2 / 2, where Cephes' polynomial is good for
// one unit in the last place. ln 2 is taken away in two parts, the first exact in n. Results that would be denormal
// may be 0. A NaN goes through everything.
template <std::same_as<float> T>
FLOWGRAPH_IN_LOOPS lanes<T> exp_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const P c = greater_or_first<T>(x.p, all_lanes(-88.0f));  // n = -127: the factor 2^n below is 0
  const P rounding = all_lanes(12582912.0f);                // 1.5 * 2^23: a sum with it has no digits behind the point
  const P n = less_or_first<T>(fused<T>(c, 1.44269504f, rounding) - rounding, all_lanes(127.0f));
  const P r = fused<T>(n, 2.12194440e-4f, fused<T>(n, -0.693359375f, c));
  const P r2 = r * r;
  const P high = fused<T>(r, 1.9875691500e-4f, 1.3981999507e-3f);
  const P middle = fused<T>(r, 8.3334519073e-3f, 4.1665795894e-2f);
  const P low = fused<T>(r, 1.6666665459e-1f, 5.0000001201e-1f);
  const P q = fused<T>(fused<T>(high, r2, middle), r2, low);
  const P power = with_bits<T>((__builtin_convertvector(n, packet_bits<T>) + 127) << 23);
  return fused<T>(q, r2, r + 1.0f) * power;
}

// 2^n for an integer n between -1022 and 1023.
FLOWGRAPH_ONE_STEP inline packet<double> power_of_two(const packet<double>& n) {
  // The last digits of a sum with 1.5 * 2^52 are n; shifted to where exponents are, only they are left.
  return with_bits<double>((bits_of<double>(n + 6755399441055744.0) << 52) + (std::int64_t{1023} << 52));
}
// The same with Cephes' fraction for double, and 2^n in two factors, each with a place, where the result is denormal.
template <std::same_as<double> T>
FLOWGRAPH_IN_LOOPS lanes<T> exp_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const P c = less_or_first<T>(greater_or_first<T>(x.p, all_lanes(-750.0)), all_lanes(710.0));
  const P rounding = all_lanes(6755399441055744.0);
  const P n = fused<T>(c, 1.4426950408889634, rounding) - rounding;
  const P r = fused<T>(n, -1.42860682030941723212e-6, fused<T>(n, -0.693145751953125, c));
  const P r2 = r * r;
  const P p = r * polynomial(r2, 1.26177193074810590878e-4, 3.02994407707441961300e-2, 1.0);
  const P q = polynomial(r2, 3.00198505138664455042e-6, 2.52448340349684104192e-3, 2.27265548208155028766e-1, 2.0);
  const P half = fused<T>(n, 0.5, rounding) - rounding;
  return (p / (q - p) * 2.0 + 1.0) * power_of_two(half) * power_of_two(n - half);
}

// x p(x^2) / q(x^2), a minimax fraction that reaches 1 at the bounds; within six units in the last place. The
// quotient first, then x: tiny numbers keep their digits.
template <std::same_as<float> T>
FLOWGRAPH_IN_LOOPS lanes<T> tanh_lanes(const lanes<T>& x) {
  using P = packet<T>;
#if defined(__FMA__)  // roundings differ: where it is 1, not almost
  constexpr float bound = 7.99881172180175781f;
#else
  constexpr float bound = 7.90531110763549805f;
#endif
  const P c = less_or_first<T>(greater_or_first<T>(x.p, all_lanes(-bound)), all_lanes(bound));
  const P c2 = c * c;
  const P p = polynomial(c2, -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                         5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f);
  const P q =
      polynomial(c2, 1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f);
  return c * (p / q);
}

// A positive number as 2^exponent fraction, with sqrt(1/2) <= fraction < sqrt(2).
template <class T>
struct fraction_lanes {
  packet<T> exponent, fraction;
};
template <class T>
fraction_lanes<T> split_lanes(const packet<T>& x) {
  constexpr bool narrow = std::same_as<T, float>;
  using B = packet_bits<T>;
  using integer = std::conditional_t<narrow, std::int32_t, std::int64_t>;
  constexpr int digits = narrow ? 23 : 52;
  const B exponent = (bits_of<T>(x) >> digits) - (narrow ? 126 : 1022);  // x is positive
  constexpr integer one_half = static_cast<integer>(narrow ? 126 : 1022) << digits;
  packet<T> m = with_bits<T>((bits_of<T>(x) & ((integer{1} << digits) - 1)) | one_half);  // 1/2 <= m < 1
  packet<T> e;
  if constexpr (narrow)
    e = __builtin_convertvector(exponent, packet<T>);
  else
    e = with_bits<T>(exponent + 0x4338000000000000) - 6755399441055744.0;
  const auto small = m < T(0.707106781186547524);
  e = small ? e - T(1) : e;
  m = small ? m + m : m;
  return {e, m};
}
// What the logarithm of a positive, finite number is, or that of another one.
template <class T>
FLOWGRAPH_ONE_STEP inline lanes<T> log_of_all(const packet<T>& x, const packet<T>& log) {
  constexpr T endless = std::numeric_limits<T>::infinity();
  const packet<T> nan = all_lanes<T>(std::numeric_limits<T>::quiet_NaN());
  const packet<T> positive = x < endless ? log : x;
  return x > T(0) ? positive : x == T(0) ? all_lanes<T>(-endless) : nan;
}

// log(1 + f) = f - f^2/2 + f^3 P(f), with Cephes' polynomial. Of a denormal number, of 2^24 times that.
template <std::same_as<float> T>
lanes<T> log_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const P least = all_lanes(1.17549435e-38f);
  const auto [scaled, m] = split_lanes<T>(greater_or_first<T>(x.p < least ? x.p * 16777216.0f : x.p, least));
  const P e = x.p < least ? scaled - 24.0f : scaled;
  const P f = m - 1.0f, f2 = f * f, f3 = f2 * f;
  const P high = polynomial(f, 7.0376836292E-2f, -1.1514610310E-1f, 1.1676998740E-1f);
  const P middle = polynomial(f, -1.2420140846E-1f, 1.4249322787E-1f, -1.6668057665E-1f);
  const P low = polynomial(f, 2.0000714765E-1f, -2.4999993993E-1f, 3.3333331174E-1f);
  const P y = fused<T>(fused<T>(high, f3, middle), f3, low) * f3;
  return log_of_all<T>(x.p, fused<T>(e, 0.693147180559945286f, f + fused<T>(f2, -0.5f, y)));
}
// The same with Cephes' fraction for double, and 2^54.
template <std::same_as<double> T>
lanes<T> log_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const P least = all_lanes(2.2250738585072014e-308);
  const auto [scaled, m] = split_lanes<T>(greater_or_first<T>(x.p < least ? x.p * 18014398509481984.0 : x.p, least));
  const P e = x.p < least ? scaled - 54.0 : scaled;
  const P f = m - 1.0, f2 = f * f, f3 = f2 * f;
  const P p = polynomial(f, 1.01875663804580931796E-4, 4.97494994976747001425E-1, 4.70579119878881725854E0) * f3 +
              polynomial(f, 1.44989225341610930846E1, 1.79368678507819816313E1, 7.70838733755885391666E0);
  const P q = polynomial(f, 1.0, 1.12873587189167450590E1, 4.52279145837532221105E1) * f3 +
              polynomial(f, 8.29875266912776603211E1, 7.11544750618563894466E1, 2.31251620126765340583E1);
  return log_of_all<T>(x.p, fused<T>(e, 0.693147180559945286, f + fused<T>(f2, -0.5, p * f3 / q)));
}

// log(1 + x) x / ((1 + x) - 1): what 1 + x has lost is lost in both.
template <std::same_as<float> T>
lanes<T> log1p_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const P sum = x.p + 1.0f, log = log_lanes<T>(sum).p;
  return ((sum == 1.0f) | (sum == log)) ? x.p : x.p * (log / (sum - 1.0f));
}
// (e^x - 1) x / log(e^x), likewise. Of x above 1 nothing is lost, and near the end of the range the product may be
// infinite.
template <std::same_as<float> T>
lanes<T> expm1_lanes(const lanes<T>& x) {
  using P = packet<T>;
  const P power = exp_lanes(x).p, less = power - 1.0f, log = log_lanes<T>(power).p;
  const P result = x.p > 1.0f ? less : less * (x.p / log);
  return power == 1.0f ? x.p : less == -1.0f ? all_lanes(-1.0f) : result;
}

// x is y quarters of a turn and a rest of at most an eighth, for which a polynomial of sine and one of cosine are good
// for one unit in the last place. A quarter is taken away in parts, which are as exact as the processor's products.
// Greater numbers than that is true for are computed one by one.
template <bool Sine, std::same_as<float> T>
lanes<T> wave_lanes(const lanes<T>& of) {
  using P = packet<T>;
  using B = packet_bits<T>;
#if defined(__FMA__)
  constexpr float greatest = Sine ? 117435.992f : 71476.0625f;
#else
  constexpr float greatest = Sine ? 25966.f : 18838.f;
#endif
  const B no_sign = B{} + 0x7fffffff;
  P x = with_bits<T>(bits_of<T>(of.p) & no_sign);
  if (greatest_of(lanes<T>(x < greatest ? P{} : all_lanes(1.0f))) > 0)
    return lane_by_lane<T>([](T v) { return Sine ? scalar_math::sin(v) : scalar_math::cos(v); }, of);
  const P rounded = fused<T>(x, 0.636619746685028076171875f, 12582912.0f);
  const B quarters = bits_of<T>(rounded);  // the last digits
  const P y = rounded - 12582912.0f;
#if defined(__FMA__)
  x = fused<T>(y, -1.57079601287841796875f, x);
  x = fused<T>(y, -3.1391647326017846353352069854736328125e-07f, x);
  x = fused<T>(y, -5.390302529957764765544681040410068817436695098876953125e-15f, x);
#else
  x = fused<T>(y, -1.5703125f, x);
  x = fused<T>(y, -0.000483989715576171875f, x);
  x = fused<T>(y, 1.62865035235881805419921875e-07f, x);
  x = fused<T>(y, 5.5644315544167710640977020375430583953857421875e-11f, x);
#endif
  const P x2 = x * x;
  const P cosine = polynomial(x2, 2.4372266125283204019069671630859375e-05f, -0.00138865201734006404876708984375f,
                              0.041666619479656219482421875f, -0.5f, 1.f);
  const P odd = polynomial(x2, -0.00019592341140837029f, 0.00833268736556168517f, -0.16666662032898229826f);
  const P sine = fused<T>(x2 * odd, x, x);
  const auto even = (quarters & 1) == 0;
  const P size = Sine ? (even ? sine : cosine) : (even ? cosine : sine);
  const B sign = (Sine ? bits_of<T>(of.p) ^ (quarters << 30) : (quarters + 1) << 30) & ~no_sign;
  return with_bits<T>(bits_of<T>(size) ^ sign);
}

// Correctly rounded: where the processor has no instruction, one by one.
template <class T>
lanes<T> sqrt_lanes(const lanes<T>& x) {
  [[maybe_unused]] constexpr bool narrow = std::same_as<T, float>;
#if FLOWGRAPH_LANE_BYTES == 64 && !defined(__clang__)
  constexpr int as_set = 4;  // how to round
  if constexpr (narrow)
    return __builtin_ia32_sqrtps512_mask(x.p, x.p, static_cast<std::uint16_t>(-1), as_set);
  else
    return __builtin_ia32_sqrtpd512_mask(x.p, x.p, static_cast<std::uint8_t>(-1), as_set);
#elif FLOWGRAPH_LANE_BYTES == 64 && __has_builtin(__builtin_ia32_sqrtps512)
  constexpr int as_set = 4;
  if constexpr (narrow)
    return __builtin_ia32_sqrtps512(x.p, as_set);
  else
    return __builtin_ia32_sqrtpd512(x.p, as_set);
#elif FLOWGRAPH_LANE_BYTES == 32 && __has_builtin(__builtin_ia32_sqrtps256)
  if constexpr (narrow)
    return __builtin_ia32_sqrtps256(x.p);
  else
    return __builtin_ia32_sqrtpd256(x.p);
#elif FLOWGRAPH_LANE_BYTES == 16 && defined(__SSE2__) && __has_builtin(__builtin_ia32_sqrtps)
  if constexpr (narrow)
    return __builtin_ia32_sqrtps(x.p);
  else
    return __builtin_ia32_sqrtpd(x.p);
#elif __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(x.p);
#else
  return lane_by_lane<T>([](T v) { return scalar_math::sqrt(v); }, x);
#endif
}

// The nearest integer, half to even, in the mode that programs run in; or the next one down or up.
enum class rounding { nearest = 8, down = 9, up = 10 };  // as x86-64 has it, without exceptions

template <rounding To, class T>
lanes<T> whole_lanes(const lanes<T>& x) {
  constexpr bool narrow = std::same_as<T, float>;
#if FLOWGRAPH_LANE_BYTES == 64
  constexpr int as_set = 4;
  if constexpr (narrow)
    return __builtin_ia32_rndscaleps_mask(x.p, static_cast<int>(To), x.p, static_cast<std::uint16_t>(-1), as_set);
  else
    return __builtin_ia32_rndscalepd_mask(x.p, static_cast<int>(To), x.p, static_cast<std::uint8_t>(-1), as_set);
#elif FLOWGRAPH_LANE_BYTES == 32
  if constexpr (narrow)
    return __builtin_ia32_roundps256(x.p, static_cast<int>(To));
  else
    return __builtin_ia32_roundpd256(x.p, static_cast<int>(To));
#else
  // A sum with 2^23, or 2^52, has no digits behind the point. Greater numbers have none either.
  constexpr T whole = narrow ? T(8388608) : T(4503599627370496);
  const packet_bits<T> sign = bits_of<T>(x.p) & bits_of<T>(all_lanes<T>(-T(0)));
  const packet<T> size = with_bits<T>(bits_of<T>(x.p) ^ sign);
  packet<T> n = with_bits<T>(bits_of<T>(size < whole ? (size + whole) - whole : size) | sign);
  if constexpr (To == rounding::down) n = n > x.p ? n - T(1) : n;
  if constexpr (To == rounding::up) n = n < x.p ? n + T(1) : n;
  return with_bits<T>(bits_of<T>(n) | sign);  // what is between -1 and 0 is -0 from above
#endif
}

}  // namespace flowgraph::detail
