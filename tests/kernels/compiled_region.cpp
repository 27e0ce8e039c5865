// Regions as a session<model> compiles them, against the same arithmetic done in double, element by element.
#include <flowgraph/kernels/cpu/compiled_region.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace fg = flowgraph;
namespace ops = fg::ops;
using fg::detail::compiled_region;
using fg::detail::operand_walk;
using fg::detail::region_operand;
using fg::detail::region_parts;
using fg::detail::region_step;

namespace {

template <class T>
struct filled {
  std::vector<std::int64_t> dims;
  std::vector<T> values;

  filled(std::vector<std::int64_t> d, int seed) : dims(std::move(d)) {
    std::int64_t n = 1;
    for (const std::int64_t e : dims) n *= e;
    for (std::int64_t i = 0; i < n; ++i)
      values.push_back(static_cast<T>(static_cast<double>((i * 37 + seed * 11) % 101) / 25.0 - 2.0));
  }
  fg::array_view view() { return {values.data(), dims.data(), static_cast<int>(dims.size()), fg::detail::dtype_of<T>}; }
};

// (x - b) * c, and x where that is negative: the condition is read as truth values and never stored.
template <class T, int InnerAxes, operand_walk B, operand_walk C>
using chosen = compiled_region<
    T, InnerAxes, region_parts<region_operand<T, operand_walk::whole>, region_operand<T, B>, region_operand<T, C>>,
    region_parts<region_step<ops::sub, T, -1, -2>, region_step<ops::mul, T, 0, -3>, region_step<ops::neg, T, 1>,
                 region_step<ops::greater, bool, 2, -2>, region_step<ops::select, T, 3, -1, 1>>>;

template <class T, int InnerAxes, operand_walk B, operand_walk C>
void check_walks(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& b_dims,
                 const std::vector<std::int64_t>& c_dims) {
  filled<T> x(shape, 1), b(b_dims, 2), c(c_dims, 3), y(shape, 0);
  const fg::array_view in[] = {x.view(), b.view(), c.view()}, out = y.view();
  const auto size = static_cast<std::int64_t>(y.values.size());
  std::int64_t inner = 1;
  for (int i = 0; i < InnerAxes; ++i) inner *= shape[shape.size() - 1 - static_cast<std::size_t>(i)];
  const auto at = [&](operand_walk how, const std::vector<T>& v, std::int64_t i) {
    const std::int64_t k = how == operand_walk::whole ? i
                           : how == operand_walk::one ? 0
                           : how == operand_walk::row ? i % inner
                                                      : i / inner;
    return v[static_cast<std::size_t>(k)];
  };
  // In parts that begin and end anywhere.
  for (const std::int64_t part : {size, std::int64_t{1}, std::int64_t{7}, std::int64_t{40}}) {
    std::fill(y.values.begin(), y.values.end(), T(99));
    for (std::int64_t first = 0; first < size; first += part)
      chosen<T, InnerAxes, B, C>::compute(in, out, y.values.data() + first, first, std::min(size, first + part));
    int wrong = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      const T p = x.values[static_cast<std::size_t>(i)], q = at(B, b.values, i), r = at(C, c.values, i);
      const T expected = -((p - q) * r) > q ? p : (p - q) * r;
      wrong += !(std::abs(y.values[static_cast<std::size_t>(i)] - expected) <= std::numeric_limits<T>::epsilon() * 8);
    }
    CAPTURE(part);
    CHECK(wrong == 0);
  }
}

// How far a function of one operand is from `exact`, in units in the last place of the result.
template <class Op>
double worst_error(double from, double to, double (*exact)(double)) {
  using region = compiled_region<float, 0, region_parts<region_operand<float, operand_walk::whole>>,
                                 region_parts<region_step<Op, float, -1>>>;
  constexpr std::int64_t n = 100'001;
  std::vector<float> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(from + (to - from) * static_cast<double>(i) / (n - 1));
  const std::int64_t dims[] = {n};
  const fg::array_view in[] = {{x.data(), dims, 1, fg::dtype::float32}}, out{y.data(), dims, 1, fg::dtype::float32};
  region::compute(in, out, y.data(), 0, n);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(static_cast<double>(x[i]));
    if (!(std::abs(expected) >= 1.2e-38 && std::abs(expected) <= 3.4e38)) continue;
    const double unit = std::ldexp(1.0, std::ilogb(expected) - 23);
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) - expected) / unit);
  }
  return worst;
}

template <class Op>
float at_point(float x) {
  using region = compiled_region<float, 0, region_parts<region_operand<float, operand_walk::whole>>,
                                 region_parts<region_step<Op, float, -1>>>;
  const std::int64_t dims[] = {1};
  float y = 0;
  const fg::array_view in[] = {{&x, dims, 1, fg::dtype::float32}}, out{&y, dims, 1, fg::dtype::float32};
  region::compute(in, out, &y, 0, 1);
  return y;
}

}  // namespace

TEST_CASE_TEMPLATE("operands are walked whole, by rows, by columns, or are one number", T, float, double) {
  using enum operand_walk;
  check_walks<T, 0, whole, one>({3, 5, 37}, {3, 5, 37}, {});
  check_walks<T, 1, row, whole>({3, 5, 37}, {37}, {3, 5, 37});
  check_walks<T, 1, row, column>({3, 5, 37}, {37}, {3, 5, 1});
  check_walks<T, 2, column, row>({4, 3, 5}, {4, 1, 1}, {3, 5});
  check_walks<T, 1, one, column>({6, 2}, {1, 1}, {6, 1});
  check_walks<T, 1, row, column>({6, 1}, {1}, {6, 1});
  check_walks<T, 1, row, row>({0, 8}, {8}, {8});
}

TEST_CASE("functions of float are within a few units in the last place") {
  CHECK(worst_error<ops::exp>(-87, 88, [](double x) { return std::exp(x); }) < 1.5);
  CHECK(worst_error<ops::exp>(88, 88.72, [](double x) { return std::exp(x); }) < 6);
  CHECK(worst_error<ops::exp>(-1e-3, 1e-3, [](double x) { return std::exp(x); }) < 1);
  CHECK(worst_error<ops::tanh>(-10, 10, [](double x) { return std::tanh(x); }) < 6);
  CHECK(worst_error<ops::tanh>(-1e-3, 1e-3, [](double x) { return std::tanh(x); }) < 4);
  CHECK(worst_error<ops::sigmoid>(-80, 80, [](double x) { return 1 / (1 + std::exp(-x)); }) < 4);
  CHECK(worst_error<ops::softplus>(-30, 30, [](double x) { return std::log1p(std::exp(x)); }) < 4);
  CHECK(worst_error<ops::log>(1e-3, 100, [](double x) { return std::log(x); }) < 4);
  CHECK(worst_error<ops::sqrt>(0, 1e10, [](double x) { return std::sqrt(x); }) <= 0.5);
  CHECK(worst_error<ops::rsqrt>(1e-3, 100, [](double x) { return 1 / std::sqrt(x); }) < 1.5);
}

TEST_CASE("functions of float keep infinities, zeros and NaN") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(at_point<ops::exp>(infinity) == infinity);
  CHECK(at_point<ops::exp>(89) == infinity);
  CHECK(at_point<ops::exp>(-infinity) == 0);
  CHECK(at_point<ops::exp>(0) == 1);
  CHECK(at_point<ops::tanh>(infinity) == 1);
  CHECK(at_point<ops::tanh>(-infinity) == -1);
  CHECK(at_point<ops::tanh>(1e-40f) == 1e-40f);
  CHECK(std::signbit(at_point<ops::tanh>(-0.0f)));
  CHECK(at_point<ops::sigmoid>(infinity) == 1);
  CHECK(at_point<ops::sigmoid>(-infinity) == 0);
  CHECK(at_point<ops::sigmoid>(0) == 0.5f);
  CHECK(at_point<ops::sqrt>(infinity) == infinity);
  CHECK(at_point<ops::sqrt>(0) == 0);
  CHECK(at_point<ops::log>(0) == -infinity);
  CHECK(at_point<ops::relu>(-infinity) == 0);
  CHECK(std::isnan(at_point<ops::sqrt>(-1)));
  CHECK(std::isnan(at_point<ops::exp>(nan)));
  CHECK(std::isnan(at_point<ops::tanh>(nan)));
  CHECK(std::isnan(at_point<ops::sigmoid>(nan)));
  CHECK(std::isnan(at_point<ops::relu>(nan)));
  CHECK(std::isnan(at_point<ops::sign>(nan)));
  CHECK(std::isnan(at_point<ops::square>(nan)));
}
