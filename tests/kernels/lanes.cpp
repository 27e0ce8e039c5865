// Functions on lanes beside the standard library's in double: as many units in the last place apart as is said here,
// and the same where there is no number. Sums, greatest elements, and parts of the lanes.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <flowgraph/kernels/cpu/decompositions.hpp>
#include <flowgraph/kernels/cpu/lane_math.hpp>
#include <flowgraph/kernels/cpu/reducers.hpp>

namespace {

using namespace flowgraph::detail;

// Of float: every so many bit patterns, positive and negative; of double the same numbers and more of small ones.
template <class T>
std::vector<T> numbers() {
  std::vector<T> all{0,
                     -T(0),
                     1,
                     -1,
                     std::numeric_limits<T>::infinity(),
                     -std::numeric_limits<T>::infinity(),
                     std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::max(),
                     std::numeric_limits<T>::min()};
  for (int e = -30; e <= 30; ++e)
    for (int k = 0; k < 16; ++k)
      for (const T sign : {T(1), T(-1)}) all.push_back(sign * static_cast<T>(std::ldexp(1 + k / 16.3, e)));
  for (int k = -900; k <= 900; ++k) all.push_back(static_cast<T>(k * 0.13));
  for (int k = -900; k <= 900; ++k) all.push_back(static_cast<T>(k * 0.5));
  while (all.size() % 16 != 0) all.push_back(1);
  return all;
}

// Results that would be denormal may be 0.
template <class T, class F, class G>
void compare(const F& on_lanes, const G& expected, double units) {
  const std::vector<T> x = numbers<T>();
  for (std::size_t i = 0; i < x.size(); i += lane_count<T>) {
    T y[lane_count<T>];
    on_lanes(lanes<T>::load(&x[i])).store(y);
    for (std::size_t k = 0; k < lane_count<T>; ++k) {
      const T want = static_cast<T>(expected(static_cast<double>(x[i + k])));
      INFO("of ", x[i + k], ": ", y[k], " instead of ", want);
      if (std::isnan(want)) {
        CHECK(std::isnan(y[k]));
      } else if (std::isinf(want) || want == 0) {
        CHECK(y[k] == want);
      } else {
        const double one = std::abs(static_cast<double>(want)) * static_cast<double>(std::numeric_limits<T>::epsilon());
        const double least = static_cast<double>(std::numeric_limits<T>::min());
        CHECK(std::abs(static_cast<double>(y[k]) - static_cast<double>(want)) <= std::max(units * one, least));
      }
    }
  }
}

#define COMPARE(T, name, units) \
  compare<T>([](const auto& x) { return lane_math::name(x); }, [](double x) { return std::name(x); }, units)

}  // namespace

TEST_CASE("functions on lanes are those of the standard library") {
  COMPARE(float, exp, 2);
  COMPARE(float, log, 2);
  COMPARE(float, log1p, 4);
  COMPARE(float, expm1, 8);
  COMPARE(float, tanh, 6);
  COMPARE(float, sin, 2);
  COMPARE(float, cos, 2);
  COMPARE(float, sqrt, 0.5);
  COMPARE(float, floor, 0);
  COMPARE(float, ceil, 0);
  compare<float>([](const auto& x) { return lane_math::round(x); }, [](double x) { return std::nearbyint(x); }, 0);
  COMPARE(double, exp, 4);
  COMPARE(double, log, 4);
  COMPARE(double, sqrt, 0.5);
  COMPARE(double, floor, 0);
  COMPARE(double, ceil, 0);
  compare<double>([](const auto& x) { return lane_math::round(x); }, [](double x) { return std::nearbyint(x); }, 0);
}

TEST_CASE("rounding keeps the sign of zero") {
  for (const float x : {-0.0f, -0.25f}) {
    CHECK(std::signbit(lane_math::round(lanes<float>(x)).p[0]));
    CHECK(std::signbit(lane_math::ceil(lanes<float>(x)).p[0]));
  }
  CHECK(std::signbit(lanes<float>(-0.0f).p[0]));
}

TEST_CASE("a part of the lanes is read and written") {
  for (int n = 1; n < lane_count<float>; ++n) {
    std::vector<float> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n) + 1, 7);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    const lanes<float> part = lanes<float>::load(x.data(), n, -3);
    for (int i = 0; i < lane_count<float>; ++i) CHECK(part.p[i] == (i < n ? static_cast<float>(i + 1) : -3));
    part.store(y.data(), n);
    CHECK(y.back() == 7);
    CHECK(y[0] == 1);
  }
}

TEST_CASE("sums and greatest elements of runs of any length") {
  for (std::int64_t n = 1; n < 200; ++n) {
    std::vector<float> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 37) % 101);
    double sum = 0;
    float most = -1, least = 1000;
    for (const float v : x) {
      sum += static_cast<double>(v);
      most = std::max(most, v);
      least = std::min(least, v);
    }
    CHECK(sum_run(x.data(), n) == static_cast<float>(sum));  // whole numbers: exact
    CHECK(extreme_of<float, true>(x.data(), n) == most);
    CHECK(extreme_of<float, false>(x.data(), n) == least);
    x[static_cast<std::size_t>(n / 2)] = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(extreme_of<float, true>(x.data(), n)));
    CHECK(std::isnan(extreme_of<float, false>(x.data(), n)));
  }
}

TEST_CASE_TEMPLATE("products of any shape, set, added and taken away", T, float, double) {
  for (const std::int64_t rows : {1, 5, 33, 100})
    for (const std::int64_t columns : {1, 3, 8, 40})
      for (const std::int64_t depth : {0, 1, 7, 300}) {
        const auto at = [](std::int64_t i, std::int64_t j) { return static_cast<T>((i * 3 + j * 5) % 7 - 3); };
        std::vector<T> a(static_cast<std::size_t>(rows * depth + 1)), b(static_cast<std::size_t>(depth * columns + 1));
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t p = 0; p < depth; ++p) a[static_cast<std::size_t>(p * rows + i)] = at(i, p);  // turned
        for (std::int64_t p = 0; p < depth; ++p)
          for (std::int64_t j = 0; j < columns; ++j) b[static_cast<std::size_t>(p * columns + j)] = at(p, j);
        std::vector<T> y(static_cast<std::size_t>(rows * columns), T(1));
        for (const auto& [into, times] :
             {std::pair{product_into::set, 1}, std::pair{product_into::add, 2}, std::pair{product_into::subtract, 1}}) {
          multiply_matrices<T>(rows, columns, depth, {a.data(), 1, rows}, {b.data(), columns, 1}, y.data(), columns,
                               into);
          bool right = true;
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
              T want = 0;
              for (std::int64_t p = 0; p < depth; ++p) want += at(i, p) * at(p, j);
              right = right && y[static_cast<std::size_t>(i * columns + j)] == static_cast<T>(times) * want;
            }
          INFO(rows, " x ", depth, " x ", columns);
          CHECK(right);
        }
      }
}

TEST_CASE_TEMPLATE("systems of more rows than a block has", T, float, double) {
  constexpr std::int64_t n = 77;
  std::vector<T> a(n * n), x(n * 9), y;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      a[static_cast<std::size_t>(i * n + j)] =
          static_cast<T>(std::sin(1.0 + static_cast<double>(i * i * 31 + j * 17 + i * j * 7)) + (i == j ? 4 : 0));
  for (const bool transposed : {false, true})
    for (const std::int64_t columns : {1, 3, 9}) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>((i * 7) % 11) - 5;
      y.assign(static_cast<std::size_t>(n * columns), T(0));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < n; ++k)
          for (std::int64_t j = 0; j < columns; ++j)
            y[static_cast<std::size_t>(i * columns + j)] +=
                a[static_cast<std::size_t>(transposed ? k * n + i : i * n + k)] *
                x[static_cast<std::size_t>(k * columns + j)];
      row_exchange_lu<T>(a.data(), n).solve(transposed, y.data(), columns);
      double worst = 0;
      for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(y[i] - x[i])));
      CHECK(worst < (std::is_same_v<T, float> ? 0.05 : 1e-9));
    }
}
