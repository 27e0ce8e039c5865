// What goldens of a few elements do not reach: several chunks of patches, empty batches, ties and NaN.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <flowgraph/kernels/cpu/conv2d.hpp>
#include <flowgraph/kernels/cpu/pool.hpp>
#include <support/run_kernel.hpp>

namespace fg = flowgraph;

namespace {

using array = fg::testing::host_array<double>;
using fg::testing::whole_numbers;

double at(const array& a, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  return a.values[static_cast<std::size_t>(((i * a.dims[1] + j) * a.dims[2] + k) * a.dims[3] + l)];
}

double dot(const array& a, const array& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  return sum;
}

// One result element, by the definition.
double convolved(const fg::conv& c, const array& x, const array& w, const array& y, std::int64_t n, std::int64_t i,
                 std::int64_t j, std::int64_t o) {
  const std::int64_t top = fg::ops::axis_of(c, w.dims[0], 0).padding_before(x.dims[1], y.dims[1]);
  const std::int64_t left = fg::ops::axis_of(c, w.dims[1], 1).padding_before(x.dims[2], y.dims[2]);
  const std::int64_t first = o / (w.dims[3] / c.groups) * w.dims[2];
  double sum = 0;
  for (std::int64_t u = 0; u < w.dims[0]; ++u)
    for (std::int64_t v = 0; v < w.dims[1]; ++v) {
      const std::int64_t row = i * c.stride[0] + u * c.dilation[0] - top;
      const std::int64_t column = j * c.stride[1] + v * c.dilation[1] - left;
      if (row < 0 || row >= x.dims[1] || column < 0 || column >= x.dims[2]) continue;
      for (std::int64_t k = 0; k < w.dims[2]; ++k) sum += at(x, n, row, column, first + k) * at(w, u, v, k, o);
    }
  return sum;
}

// The kernel for T; every number here is exact in both types.
template <class Op, class T>
array run(const fg::conv& c, std::vector<std::int64_t> result, const array& a, const array& b) {
  using of_t = fg::testing::host_array<T>;
  const auto y = fg::testing::run_kernel<Op, T>(c, std::move(result), of_t(a.dims, {a.values.begin(), a.values.end()}),
                                                of_t(b.dims, {b.values.begin(), b.values.end()}));
  return array(y.dims, {y.values.begin(), y.values.end()});
}

// T(x, w, z) = <conv(x, w), z> is linear in each: its three derivatives must agree on it.
template <class T>
void check_in(const fg::conv& c, const array& x, const array& w, const std::vector<std::int64_t>& result) {
  const array y = run<fg::ops::conv2d, T>(c, result, x, w);
  int wrong = 0;
  for (std::int64_t n = 0; n < result[0]; ++n)
    for (std::int64_t i = 0; i < result[1]; ++i)
      for (std::int64_t j = 0; j < result[2]; ++j)
        for (std::int64_t o = 0; o < result[3]; ++o) wrong += at(y, n, i, j, o) != convolved(c, x, w, y, n, i, j, o);
  CHECK(wrong == 0);
  const array z = whole_numbers<double>(result, 3);
  const array dx = run<fg::ops::conv2d_input_gradient, T>(c, x.dims, z, w);
  const array dw = run<fg::ops::conv2d_filter_gradient, T>(c, w.dims, x, z);
  CHECK(dot(y, z) == dot(dx, x));
  CHECK(dot(y, z) == dot(dw, w));
}
void check(const fg::conv& c, const array& x, const array& w, const std::vector<std::int64_t>& result) {
  check_in<double>(c, x, w, result);
  check_in<float>(c, x, w, result);
}

}  // namespace

TEST_CASE("convolutions of several chunks") {
  const array x = whole_numbers<double>({3, 40, 37, 8}, 1);
  SUBCASE("same") { check({.padding = fg::same}, x, whole_numbers<double>({5, 5, 8, 4}, 2), {3, 40, 37, 4}); }
  SUBCASE("strided, dilated, groups") {
    check({.stride = {2, 1}, .dilation = {1, 2}, .padding = fg::same, .groups = 2}, x,
          whole_numbers<double>({7, 5, 4, 6}, 2), {3, 20, 37, 6});
  }
  SUBCASE("pointwise with groups") { check({.groups = 4}, x, whole_numbers<double>({1, 1, 2, 8}, 2), {3, 40, 37, 8}); }
  SUBCASE("depthwise, one result for each channel") {
    check({.padding = fg::same, .groups = 8}, x, whole_numbers<double>({3, 3, 1, 8}, 2), {3, 40, 37, 8});
  }
  SUBCASE("depthwise") {
    check({.padding = fg::same, .groups = 8}, x, whole_numbers<double>({3, 3, 1, 16}, 2), {3, 40, 37, 16});
  }
}

TEST_CASE("convolutions of float on register tiles, however a row of the window lies") {
  SUBCASE("results that fill no tile, several bands") {
    check({.padding = fg::same}, whole_numbers<double>({2, 33, 35, 24}, 1), whole_numbers<double>({3, 3, 24, 41}, 2),
          {2, 33, 35, 41});
  }
  SUBCASE("strided") {
    check({.stride = {2, 3}, .padding = fg::padded(2, 1, 0, 2)}, whole_numbers<double>({2, 17, 19, 9}, 1),
          whole_numbers<double>({4, 5, 9, 16}, 2), {2, 9, 6, 16});
  }
  SUBCASE("dilated") {
    check({.dilation = {2, 3}, .padding = fg::same}, whole_numbers<double>({1, 12, 13, 9}, 1),
          whole_numbers<double>({3, 3, 9, 17}, 2), {1, 12, 13, 17});
  }
  SUBCASE("in groups") {
    check({.padding = fg::same, .groups = 3}, whole_numbers<double>({2, 9, 9, 27}, 1),
          whole_numbers<double>({3, 3, 9, 30}, 2), {2, 9, 9, 30});
  }
  SUBCASE("channels whose pixels would collide in the cache") {
    check({.padding = fg::same}, whole_numbers<double>({1, 5, 6, 512}, 1), whole_numbers<double>({3, 3, 512, 8}, 2),
          {1, 5, 6, 8});
  }
  SUBCASE("rows longer than a tile is deep") {
    check({.padding = fg::same}, whole_numbers<double>({1, 4, 7, 300}, 1), whole_numbers<double>({3, 5, 300, 12}, 2),
          {1, 4, 7, 12});
  }
  SUBCASE("padding wider than the window") {
    check({.padding = fg::padded(4, 3, 5, 2)}, whole_numbers<double>({1, 3, 2, 8}, 1),
          whole_numbers<double>({2, 3, 8, 9}, 2), {1, 9, 7, 9});
  }
}

TEST_CASE("an empty batch has no result, and a filter gradient of zeros") {
  const array x({0, 4, 4, 2}), w = whole_numbers<double>({3, 3, 2, 1}, 1), y({0, 2, 2, 1});
  CHECK(fg::testing::run_kernel<fg::ops::conv2d, double>(fg::conv{}, {0, 2, 2, 1}, x, w).values.empty());
  const array dw = fg::testing::run_kernel<fg::ops::conv2d_filter_gradient, double>(fg::conv{}, w.dims, x, y);
  CHECK(dot(dw, dw) == 0);
  CHECK(fg::testing::run_kernel<fg::ops::max_pool, double>(fg::pool{}, {0, 2, 2, 2}, x).values.empty());
}

TEST_CASE("max_pool sends the gradient to the first of equal elements") {
  const array x({1, 2, 2, 1}, {3, 3, 3, 3}), dy({1, 1, 1, 1}, {5});
  const array dx = fg::testing::run_kernel<fg::ops::max_pool_gradient, double>(fg::pool{}, x.dims, x, dy);
  CHECK(dx.values == std::vector<double>{5, 0, 0, 0});
}

TEST_CASE("max_pool of NaN is NaN wherever it stands") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < 4; ++i) {
    array x({1, 2, 2, 1}, {1, 2, 3, 4});
    x.values[i] = nan;
    CHECK(std::isnan(fg::testing::run_kernel<fg::ops::max_pool, double>(fg::pool{}, {1, 1, 1, 1}, x).values[0]));
  }
}
