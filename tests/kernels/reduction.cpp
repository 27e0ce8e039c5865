#include <flowgraph/kernels/cpu/reduction.hpp>
#include <flowgraph/kernels/cpu/size.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::testing::host_array;
using flowgraph::testing::run_kernel;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

host_array<double> counting(std::vector<std::int64_t> dims) {
  host_array<double> a(std::move(dims));
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<double>(i % 17) - 3;
  return a;
}

// The definition: every element goes to the result that its kept indices name.
std::vector<double> plain_sum(const host_array<double>& x, std::int64_t mask) {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    if (!((mask >> i) & 1)) size *= x.dims[i];
  std::vector<double> y(static_cast<std::size_t>(size));
  for (std::size_t e = 0; e < x.values.size(); ++e) {
    std::int64_t rest = static_cast<std::int64_t>(e), at = 0, stride = 1;
    for (std::size_t i = x.dims.size(); i-- > 0; rest /= x.dims[i])
      if (!((mask >> i) & 1)) {
        at += rest % x.dims[i] * stride;
        stride *= x.dims[i];
      }
    y[static_cast<std::size_t>(at)] += x.values[e];
  }
  return y;
}

TEST_CASE("a sum over every subset of axes is its definition") {
  const host_array<double> x = counting({3, 4, 1, 5, 2});
  for (std::int64_t mask = 0; mask < 32; ++mask) {
    CAPTURE(mask);
    const std::vector<double> expected = plain_sum(x, mask);
    const auto y = run_kernel<ops::reduce_sum, double>(ops::reduce_attrs{mask, 0},
                                                       {static_cast<std::int64_t>(expected.size())}, x);
    CHECK(y.values == expected);
  }
}

TEST_CASE("rows longer than a tile and runs longer than a block are summed whole") {
  const host_array<double> x = counting({3, 700});
  CHECK(run_kernel<ops::reduce_sum, double>(ops::reduce_attrs{1, 0}, {700}, x).values == plain_sum(x, 1));
  const host_array<double> long_run = counting({2, 5000});
  CHECK(run_kernel<ops::reduce_sum, double>(ops::reduce_attrs{2, 0}, {2}, long_run).values == plain_sum(long_run, 2));
}

TEST_CASE("a sum of many floats stays exact to the last bits, along either axis") {
  constexpr std::int64_t n = 1 << 20;
  host_array<float> x({n}, std::vector<float>(static_cast<std::size_t>(n), 0.1f));
  const float expected = static_cast<float>(static_cast<double>(0.1f) * static_cast<double>(n));
  CHECK(run_kernel<ops::reduce_sum, float>(ops::reduce_attrs{1, 0}, {}, x).values[0] ==
        doctest::Approx(expected).epsilon(1e-6));
  x.dims = {n / 2, 2};
  CHECK(run_kernel<ops::reduce_sum, float>(ops::reduce_attrs{1, 0}, {2}, x).values[1] ==
        doctest::Approx(expected / 2).epsilon(1e-6));
}

TEST_CASE("reductions of nothing are the neutral element") {
  const host_array<double> none({2, 0}, {});
  const ops::reduce_attrs columns{2, 0};
  CHECK(run_kernel<ops::reduce_sum, double>(columns, {2}, none).values == std::vector<double>{0, 0});
  CHECK(run_kernel<ops::reduce_prod, double>(columns, {2}, none).values == std::vector<double>{1, 1});
  CHECK(run_kernel<ops::reduce_max, double>(columns, {2}, none).values == std::vector<double>{-infinity, -infinity});
  CHECK(run_kernel<ops::reduce_min, double>(columns, {2}, none).values == std::vector<double>{infinity, infinity});
  CHECK(run_kernel<ops::logsumexp, double>(columns, {2}, none).values == std::vector<double>{-infinity, -infinity});
  CHECK(run_kernel<ops::reduce_sum, double>(ops::reduce_attrs{1, 0}, {0}, none).values.empty());
}

TEST_CASE("NaN wins in max, min and logsumexp, wherever it stands") {
  for (std::size_t at = 0; at < 40; ++at) {
    host_array<double> x = counting({40});
    x.values[at] = nan;
    const ops::reduce_attrs all{1, 0};
    CHECK(std::isnan(run_kernel<ops::reduce_max, double>(all, {}, x).values[0]));
    CHECK(std::isnan(run_kernel<ops::reduce_min, double>(all, {}, x).values[0]));
    CHECK(std::isnan(run_kernel<ops::logsumexp, double>(all, {}, x).values[0]));
    x.dims = {40, 1};
    CHECK(std::isnan(run_kernel<ops::reduce_max, double>(all, {1}, x).values[0]));
    x.dims = {20, 2};
    const auto rows = run_kernel<ops::reduce_max, double>(all, {2}, x);
    CHECK(std::isnan(rows.values[at % 2]));
    CHECK(!std::isnan(rows.values[1 - at % 2]));
    CHECK(std::isnan(run_kernel<ops::reduce_min, double>(all, {2}, x).values[at % 2]));
    CHECK(std::isnan(run_kernel<ops::logsumexp, double>(all, {2}, x).values[at % 2]));
  }
}

TEST_CASE("logsumexp keeps infinities and large numbers, along either axis") {
  const host_array<double> x({2, 4}, {1000, -infinity, infinity, -infinity, 1000, 3, 1, -infinity});
  const auto columns = run_kernel<ops::logsumexp, double>(ops::reduce_attrs{1, 0}, {4}, x);
  CHECK(columns.values[0] == doctest::Approx(1000 + std::log(2.0)));
  CHECK(columns.values[1] == doctest::Approx(3));
  CHECK(columns.values[2] == infinity);
  CHECK(columns.values[3] == -infinity);
  CHECK(run_kernel<ops::logsumexp, double>(ops::reduce_attrs{2, 0}, {2}, x).values[0] == infinity);
}

TEST_CASE("integer sums and products wrap") {
  const host_array<std::int32_t> x({2}, {std::numeric_limits<std::int32_t>::max(), 2});
  CHECK(run_kernel<ops::reduce_sum, std::int32_t>(ops::reduce_attrs{1, 0}, {}, x).values[0] ==
        std::numeric_limits<std::int32_t>::min() + 1);
  CHECK(run_kernel<ops::reduce_prod, std::int32_t>(ops::reduce_attrs{1, 0}, {}, x).values[0] == -2);
}

TEST_CASE("products of others, and their derivative, by definition") {
  const host_array<double> x({2, 3, 2}, {2, 0, -1, 0, 3, 4, 1, 5, 0, 2, -2, 3});
  const host_array<double> g({2, 3, 2}, {1, -1, 2, 3, 0.5, 1, 1, 2, -3, 1, 1, 0.25});
  const ops::reduce_attrs outer{0b101, 0};  // groups of four: [i, :, k] for each middle index
  const auto y = run_kernel<ops::product_of_others, double>(outer, x.dims, x);
  const auto h = run_kernel<ops::product_of_others_gradient, double>(outer, x.dims, x, g);
  for (std::size_t m = 0; m < 3; ++m) {
    const std::size_t group[] = {2 * m, 2 * m + 1, 2 * m + 6, 2 * m + 7};
    for (const std::size_t k : group) {
      double others = 1, slope = 0;
      for (const std::size_t j : group)
        if (j != k) others *= x.values[j];
      for (const std::size_t i : group) {
        double product = g.values[i];
        for (const std::size_t j : group)
          if (j != k && j != i) product *= x.values[j];
        if (i != k) slope += product;
      }
      CHECK(y.values[k] == doctest::Approx(others));
      CHECK(h.values[k] == doctest::Approx(slope));
    }
  }
}

TEST_CASE("size counts the axes it is asked for") {
  const host_array<float> x({3, 4, 5});
  CHECK(run_kernel<ops::size, std::int64_t, ops::size::attrs, std::int64_t>(ops::size::attrs{0b101}, {}, x).values[0] ==
        15);
  CHECK(run_kernel<ops::size, float, ops::size::attrs, float>(ops::size::attrs{0}, {}, x).values[0] == 1);
}

}  // namespace
