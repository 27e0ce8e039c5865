// What docs/numerics.md states of integers, casts and special values.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim n{"n"};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
constexpr T least = std::numeric_limits<T>::min();
template <class T>
constexpr T most = std::numeric_limits<T>::max();

template <class A>
auto values(const A& a) {
  if constexpr (std::is_arithmetic_v<A>)
    return std::vector{a};
  else
    return std::vector(a.data(), a.data() + a.size());
}

// f(x, y) element by element.
template <class T, class F>
auto of_two(const F& f, const std::vector<T>& a, const std::vector<T>& b) {
  fg::graph g;
  const auto x = g.placeholder<T, n>("x");
  const auto y = g.placeholder<T, n>("y");
  const auto z = f(x, y);
  fg::dynamic_session s(g);
  return values(s.run(z, fg::feed(x, a), fg::feed(y, b)));
}
template <class T, class F>
auto of_one(const F& f, const std::vector<T>& a) {
  fg::graph g;
  const auto x = g.placeholder<T, n>("x");
  const auto z = f(x);
  fg::dynamic_session s(g);
  return values(s.run(z, fg::feed(x, a)));
}
template <class To, class From>
std::vector<To> converted(const std::vector<From>& a) {
  return of_one<From>([](auto x) { return fg::cast<To>(x); }, a);
}

}  // namespace

TEST_CASE("logarithms of denormal numbers, and exponentials at the ends of the range") {
  const auto by = [](auto f, auto x) { return of_one(f, std::vector(37, x))[36]; };  // not in the last lanes alone
  const auto log_of = [](auto x) { return log(x); };
  const auto exp_of = [](auto x) { return exp(x); };
  const auto expm1_of = [](auto x) { return expm1(x); };
  for (const float x :
       {std::numeric_limits<float>::denorm_min(), 1e-40f, 1e-38f, std::numeric_limits<float>::min(), 1.0f, 3e38f})
    CHECK(by(log_of, x) == doctest::Approx(std::log(static_cast<double>(x))).epsilon(1e-6));
  for (const double x : {std::numeric_limits<double>::denorm_min(), 1e-310, 1e308})
    CHECK(by(log_of, x) == doctest::Approx(std::log(x)).epsilon(1e-14));
  CHECK(by(log_of, 0.0f) == -static_cast<float>(infinity));
  CHECK(by(log_of, 0.0) == -infinity);
  CHECK(std::isnan(by(log_of, -1e-40f)));
  CHECK(std::isnan(by(log_of, -1e-310)));
  // What has no place among normal numbers may be 0, and is no more than it should be.
  for (const float x : {-87.5f, -88.0f, -95.0f, -104.0f, -static_cast<float>(infinity)}) {
    CHECK(by(exp_of, x) >= 0);
    CHECK(static_cast<double>(by(exp_of, x)) <= std::exp(static_cast<double>(x)) * 1.000001);
  }
  for (const double x : {-708.5, -720.0, -745.0, -800.0, -infinity}) {
    CHECK(by(exp_of, x) >= 0);
    CHECK(by(exp_of, x) <= std::exp(x) * 1.000001);
  }
  for (const float x : {-87.3f, 88.0f, 88.7f, 88.72f}) {
    CHECK(by(exp_of, x) == doctest::Approx(std::exp(static_cast<double>(x))).epsilon(1e-6));
    CHECK(by(expm1_of, x) == doctest::Approx(std::expm1(static_cast<double>(x))).epsilon(1e-6));
  }
  for (const double x : {-708.3, 709.7, 709.78}) {
    CHECK(by(exp_of, x) == doctest::Approx(std::exp(x)).epsilon(1e-14));
    CHECK(by(expm1_of, x) == doctest::Approx(std::expm1(x)).epsilon(1e-14));
  }
  for (const float x : {1e-40f, 1e-20f, 1e-4f, -1e-4f, 0.5f, -0.5f, 1.5f, -20.0f})
    CHECK(by(expm1_of, x) == doctest::Approx(std::expm1(static_cast<double>(x))).epsilon(1e-6));
  for (const double x : {1e-310, 1e-20, 1e-4, -1e-4, 0.5, -0.5, 1.5, -40.0})
    CHECK(by(expm1_of, x) == doctest::Approx(std::expm1(x)).epsilon(1e-14));
  CHECK(by(exp_of, 89.0f) == static_cast<float>(infinity));
  CHECK(by(expm1_of, 89.0f) == static_cast<float>(infinity));
  CHECK(by(expm1_of, 710.0) == infinity);
  CHECK(std::isnan(by(expm1_of, not_a_number)));
}

TEST_CASE("positions along an axis without elements are 0") {
  fg::graph g;
  auto x = g.placeholder<float, 2, n>("x");
  fg::dynamic_session s(g);
  const fg::ndarray<float, 2, n> none({2, 0});
  CHECK(s.run(fg::argmax<1>(x), fg::feed(x, none)) == fg::ndarray<std::int64_t, 2>{0, 0});
  CHECK(s.run(fg::argmin<1>(x), fg::feed(x, none)) == fg::ndarray<std::int64_t, 2>{0, 0});
}

TEST_CASE("integers of 64 bits are exact, however they come into a graph") {
  constexpr std::int64_t odd = 9007199254740993, big = most<std::int64_t>, low = least<std::int64_t>;
  using array = fg::ndarray<std::int64_t, 3>;
  fg::graph g;
  auto x = g.placeholder<std::int64_t, 3>("x");
  auto scalar = g.placeholder<std::int64_t>("scalar");
  auto a = g.variable<std::int64_t, 3>("a", fg::init::constant(odd));
  auto b = g.variable<std::int64_t, 3>("b", fg::init::constant(big));
  auto c = g.variable<std::int64_t, 3>("c", fg::init::constant(low));
  auto d = g.variable<std::int64_t, 3>("d", fg::init::constant(-odd));
  auto e = g.variable<std::int64_t, 3>("e", fg::init::constant(std::uint64_t{1} << 63));
  auto narrow = g.variable<std::int32_t>("narrow", fg::init::constant(odd));
  fg::dynamic_session s(g);
  const auto of = [&](auto y) { return s.run(y, fg::feed(x, array{0, 1, 2})); };
  CHECK(of(x + odd) == array{odd, odd + 1, odd + 2});
  CHECK(of(odd + x) == array{odd, odd + 1, odd + 2});
  CHECK(of(x - big) == array{-big, 1 - big, 2 - big});
  CHECK(of(x * (odd + 2)) == array{0, odd + 2, 2 * (odd + 2)});
  CHECK(of(fg::maximum(x, odd)) == array{odd, odd, odd});
  CHECK(of(select(x < 1, odd, -x)) == array{odd, -1, -2});
  CHECK(of(cast<std::int64_t>(equal(x + odd, odd + 1))) == array{0, 1, 0});
  CHECK(of(fg::clip(x + odd, odd + 1, big)) == array{odd + 1, odd + 1, odd + 2});
  CHECK(s.run(fg::fill<std::int64_t, 3>(g, odd)) == array{odd, odd, odd});
  CHECK(s.run(fg::fill<std::int64_t, 3>(g, odd) + g.constant<std::int64_t, 3>(1) + 1) ==
        array{odd + 2, odd + 2, odd + 2});
  CHECK(s.run(fg::reshape<3>(fg::fill<std::int64_t, 3, 1>(g, odd))) == array{odd, odd, odd});
  CHECK(s.run(fg::broadcast_to<3>(g.constant<std::int64_t>(odd))) == array{odd, odd, odd});
  CHECK(s.run(fg::range<std::int64_t, 3>(g, odd, 2)) == array{odd, odd + 2, odd + 4});
  CHECK(s.run(fg::range<std::int64_t, 3>(g, big - 2, 1)) == array{big - 2, big - 1, big});
  CHECK(s.run(fg::range<std::int64_t, low, low + 3>(g)) == array{low, low + 1, low + 2});
  CHECK(of(fg::pad<0, 1>(fg::slice<fg::from<1>, 2>(x), odd)) == array{1, 2, odd});
  CHECK(s.run(fg::one_hot<3, std::int64_t>(g.constant<std::int64_t>(1), odd, -odd)) == array{-odd, odd, -odd});
  CHECK(s.get(a) == array{odd, odd, odd});
  CHECK(s.get(b) == array{big, big, big});
  CHECK(s.get(c) == array{low, low, low});
  CHECK(s.get(d) == array{-odd, -odd, -odd});
  CHECK(s.get(e) == array{big, big, big});  // the nearest that there is
  CHECK(s.get(narrow)() == most<std::int32_t>);
  s.run(fg::assign_add(a, odd));
  CHECK(s.get(a) == array{2 * odd, 2 * odd, 2 * odd});
  s.run(fg::assign(a, odd + 2));
  CHECK(s.get(a) == array{odd + 2, odd + 2, odd + 2});
  CHECK(s.run(scalar - 1, fg::feed(scalar, odd)) == odd - 1);
  s.set(a, array{odd, big, low});
  CHECK(s.get(a) == array{odd, big, low});
}

TEST_CASE_TEMPLATE("sums, differences, products and negatives wrap around", T, std::int8_t, std::int32_t,
                   std::int64_t) {
  const std::vector<T> a{most<T>, least<T>, least<T>}, b{1, -1, least<T>};
  CHECK(of_two<T>([](auto x, auto y) { return x + y; }, a, b) == std::vector<T>{least<T>, most<T>, 0});
  CHECK(of_two<T>([](auto x, auto y) { return x - y; }, b, a) ==
        std::vector<T>{static_cast<T>(least<T> + 2), most<T>, 0});
  CHECK(of_two<T>([](auto x, auto y) { return x * y; }, a, b) == std::vector<T>{most<T>, least<T>, 0});
  CHECK(of_one<T>([](auto x) { return -x; }, a) == std::vector<T>{-most<T>, least<T>, least<T>});
  CHECK(of_one<T>([](auto x) { return abs(x); }, a) == std::vector<T>{most<T>, least<T>, least<T>});
  CHECK(of_one<T>([](auto x) { return fg::reduce_sum<0>(x); }, {most<T>, 1}) == std::vector<T>{least<T>});
  CHECK(of_one<T>([](auto x) { return fg::cumsum<0>(x); }, {most<T>, 1, 1}) ==
        std::vector<T>{most<T>, least<T>, static_cast<T>(least<T> + 1)});
}

TEST_CASE("unsigned bytes wrap around at 256") {
  using T = std::uint8_t;
  CHECK(of_two<T>([](auto x, auto y) { return x + y; }, {255, 200}, {1, 100}) == std::vector<T>{0, 44});
  CHECK(of_two<T>([](auto x, auto y) { return x - y; }, {0, 1}, {1, 200}) == std::vector<T>{255, 57});
  CHECK(of_one<T>([](auto x) { return -x; }, {1, 0}) == std::vector<T>{255, 0});
  CHECK(of_two<T>([](auto x, auto y) { return floordiv(x, y); }, {255, 7}, {2, 9}) == std::vector<T>{127, 0});
}

TEST_CASE_TEMPLATE("quotients round down and remainders have the divisor's sign", T, std::int8_t, std::int32_t,
                   std::int64_t) {
  const std::vector<T> a{7, -7, 7, -7, 6, 0}, b{3, 3, -3, -3, -3, -5};
  CHECK(of_two<T>([](auto x, auto y) { return floordiv(x, y); }, a, b) == std::vector<T>{2, -3, -3, 2, -2, 0});
  CHECK(of_two<T>([](auto x, auto y) { return x % y; }, a, b) == std::vector<T>{1, 2, -2, -1, 0, 0});
  // The one quotient that has no place wraps around.
  CHECK(of_two<T>([](auto x, auto y) { return floordiv(x, y); }, {least<T>}, {-1}) == std::vector<T>{least<T>});
  CHECK(of_two<T>([](auto x, auto y) { return x % y; }, {least<T>}, {-1}) == std::vector<T>{0});
}

TEST_CASE("dividing an integer by zero ends the step, and the session goes on") {
  fg::graph g;
  const auto x = g.placeholder<std::int32_t, n>("x");
  const auto y = g.placeholder<std::int32_t, n>("y");
  const auto quotient = floordiv(x, y), rest = x % y;
  fg::dynamic_session s(g);
  const std::vector<std::int32_t> a{1, 2}, zero{1, 0}, one{1, 1};
  CHECK_THROWS_AS((void)s.run(quotient, fg::feed(x, a), fg::feed(y, zero)), fg::execution_error);
  CHECK_THROWS_AS((void)s.run(rest, fg::feed(x, a), fg::feed(y, zero)), fg::execution_error);
  CHECK(values(s.run(quotient, fg::feed(x, a), fg::feed(y, one))) == a);
}

TEST_CASE("floating-point division by zero follows IEEE 754") {
  const auto q = of_two<float>([](auto x, auto y) { return x / y; }, {1, -1, 0}, {0, 0, 0});
  CHECK(q[0] == infinity);
  CHECK(q[1] == -infinity);
  CHECK(std::isnan(q[2]));
  const auto f = of_two<double>([](auto x, auto y) { return floordiv(x, y); }, {1, -7, 7}, {0, 2, infinity});
  CHECK(f == std::vector<double>{infinity, -4, 0});
  CHECK(std::isnan(of_two<double>([](auto x, auto y) { return x % y; }, {1}, {0})[0]));
}

TEST_CASE("casts to integers truncate, stop at the ends, and turn NaN into 0") {
  const std::vector<double> x{1.9, -1.9, 300, -300, 1e300, -infinity, not_a_number};
  CHECK(converted<std::int8_t>(x) == std::vector<std::int8_t>{1, -1, 127, -128, 127, -128, 0});
  CHECK(converted<std::uint8_t>(x) == std::vector<std::uint8_t>{1, 0, 255, 0, 255, 0, 0});
  CHECK(converted<std::int32_t>(x) ==
        std::vector<std::int32_t>{1, -1, 300, -300, most<std::int32_t>, least<std::int32_t>, 0});
  CHECK(converted<std::int64_t>(x) ==
        std::vector<std::int64_t>{1, -1, 300, -300, most<std::int64_t>, least<std::int64_t>, 0});
  const std::vector<float> edges{2147483648.0f, -2147483648.0f, 2147483520.0f};
  CHECK(converted<std::int32_t>(edges) ==
        std::vector<std::int32_t>{most<std::int32_t>, least<std::int32_t>, 2147483520});
}

TEST_CASE("casts between integers keep the low bits; bool is whether it is not zero") {
  CHECK(converted<std::int8_t>(std::vector<std::int32_t>{300, -129, 128}) == std::vector<std::int8_t>{44, 127, -128});
  CHECK(converted<std::uint8_t>(std::vector<std::int32_t>{-1, 256}) == std::vector<std::uint8_t>{255, 0});
  CHECK(converted<std::int32_t>(std::vector<std::int64_t>{std::int64_t{1} << 32, -1}) ==
        std::vector<std::int32_t>{0, -1});
  fg::graph g;
  const auto x = g.placeholder<double, n>("x");
  const auto y = fg::cast<std::int32_t>(fg::cast<bool>(x));
  fg::dynamic_session s(g);
  CHECK(values(s.run(y, fg::feed(x, std::vector<double>{0, -0.0, 0.25, not_a_number}))) ==
        std::vector<std::int32_t>{0, 0, 1, 1});
}

TEST_CASE("casts to 16 bits round once, to nearest and then to even") {
  // Just above and below the middle between 1 and its neighbour: through float both would be the middle.
  const double up = 1 + 0x1p-11 + 0x1p-40, down = 1 + 0x1p-10 + 0x1p-11 - 0x1p-40;
  const auto half = converted<fg::half>(std::vector<double>{up, down, 1 + 0x1p-11, 65519.99, 65520, 0x1p-25, -1e-30});
  const float expected[] = {1 + 0x1p-10f, 1 + 0x1p-10f, 1, 65504, static_cast<float>(infinity), 0, -0.0f};
  for (std::size_t i = 0; i < half.size(); ++i) CHECK(static_cast<float>(half[i]) == expected[i]);
  CHECK(std::signbit(static_cast<float>(half.back())));

  const auto brain = converted<fg::bfloat16>(std::vector<double>{1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8, 1e39, not_a_number});
  CHECK(static_cast<float>(brain[0]) == 1 + 0x1p-7f);
  CHECK(static_cast<float>(brain[1]) == 1);
  CHECK(static_cast<float>(brain[2]) == infinity);
  CHECK(std::isnan(static_cast<float>(brain[3])));

  const std::int64_t middle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const auto large = converted<fg::bfloat16>(std::vector<std::int64_t>{middle, middle + 1, middle - 1});
  CHECK(static_cast<float>(large[0]) == 0x1p62f);
  CHECK(static_cast<float>(large[1]) == 0x1p62f + 0x1p55f);
  CHECK(static_cast<float>(large[2]) == 0x1p62f);
}

TEST_CASE("NaN in maxima, order and positions") {
  const std::vector<double> x{1, not_a_number, 3, 2};
  CHECK(std::isnan(of_one<double>([](auto v) { return fg::reduce_max<0>(v); }, x)[0]));
  CHECK(std::isnan(of_one<double>([](auto v) { return fg::reduce_min<0>(v); }, x)[0]));
  CHECK(of_one<double>([](auto v) { return fg::argmax<0>(v); }, x) == std::vector<std::int64_t>{1});
  CHECK(of_one<double>([](auto v) { return fg::argmin<0>(v); }, x) == std::vector<std::int64_t>{1});
  CHECK(of_one<double>([](auto v) { return fg::argsort<0>(v); }, x) == std::vector<std::int64_t>{0, 3, 2, 1});
  CHECK(of_one<double>([](auto v) { return fg::argsort<0>(v, fg::order::descending); }, x) ==
        std::vector<std::int64_t>{2, 3, 0, 1});
  CHECK(std::isnan(
      of_two<float>([](auto a, auto b) { return maximum(a, b); }, {1}, {static_cast<float>(not_a_number)})[0]));
}

TEST_CASE("a range of bytes counts on from the least") {
  fg::graph g;
  const auto x = fg::range<std::int8_t, 4>(g, 126, 1);
  fg::dynamic_session s(g);
  CHECK(values(s.run(x)) == std::vector<std::int8_t>{126, 127, -128, -127});
}
