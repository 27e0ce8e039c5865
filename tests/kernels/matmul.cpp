#include <flowgraph/kernels/cpu/matmul.hpp>
#include <flowgraph/kernels/cpu/transpose.hpp>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::testing::host_array;
using flowgraph::testing::run_kernel;

// Small integers: every sum is exact in every element type.
template <class T>
host_array<T> counting(std::vector<std::int64_t> dims) {
  host_array<T> a(std::move(dims));
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<T>(static_cast<int>(i % 7) - 3);
  return a;
}

template <class T>
void check_product(std::int64_t m, std::int64_t k, std::int64_t n) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      CAPTURE(ta);
      CAPTURE(tb);
      const auto a = ta ? counting<T>({k, m}) : counting<T>({m, k});
      const auto b = tb ? counting<T>({n, k}) : counting<T>({k, n});
      std::vector<T> expected(static_cast<std::size_t>(m * n));
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t l = 0; l < k; ++l)
            expected[static_cast<std::size_t>(i * n + j)] +=
                a.values[static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                b.values[static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
      CHECK(run_kernel<ops::matmul, T>(ops::matmul::attrs{ta, tb}, {m, n}, a, b).values == expected);
    }
}

TEST_CASE_TEMPLATE("products of all orientations and sizes", T, float, double, std::int32_t, std::int64_t) {
  check_product<T>(1, 1, 1);
  check_product<T>(1, 9, 5);
  check_product<T>(5, 9, 1);
  check_product<T>(17, 23, 31);
  check_product<T>(65, 37, 41);
  check_product<T>(3, 0, 2);  // a sum of nothing is 0
  check_product<T>(0, 3, 2);
}

TEST_CASE("products of float on register tiles, with more rows, columns and terms than a block has") {
  check_product<float>(130, 700, 30);  // several slices of the sum, several blocks of rows
  check_product<float>(7, 33, 1100);   // several blocks of columns
  check_product<float>(512, 512, 24);  // rows that would collide in the cache
}

TEST_CASE("leading axes broadcast on both sides") {
  const auto a = counting<double>({2, 1, 2, 3}), b = counting<double>({4, 3, 2});
  const auto y = run_kernel<ops::matmul, double>(ops::matmul::attrs{0, 0}, {2, 4, 2, 2}, a, b);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const host_array<double> left(
          {2, 3}, {a.values.begin() + static_cast<int>(i) * 6, a.values.begin() + static_cast<int>(i) * 6 + 6});
      const host_array<double> right(
          {3, 2}, {b.values.begin() + static_cast<int>(j) * 6, b.values.begin() + static_cast<int>(j) * 6 + 6});
      const auto one = run_kernel<ops::matmul, double>(ops::matmul::attrs{0, 0}, {2, 2}, left, right);
      for (std::size_t e = 0; e < 4; ++e) CHECK(y.values[(i * 4 + j) * 4 + e] == one.values[e]);
    }
}

TEST_CASE("one right operand serves a batch, transposed or not") {
  const auto a = counting<float>({3, 2, 4}), b = counting<float>({4, 5}), bt = counting<float>({5, 4});
  auto rows = a;
  rows.dims = {6, 4};
  CHECK(run_kernel<ops::matmul, float>(ops::matmul::attrs{0, 0}, {3, 2, 5}, a, b).values ==
        run_kernel<ops::matmul, float>(ops::matmul::attrs{0, 0}, {6, 5}, rows, b).values);
  CHECK(run_kernel<ops::matmul, float>(ops::matmul::attrs{0, 1}, {3, 2, 5}, a, bt).values ==
        run_kernel<ops::matmul, float>(ops::matmul::attrs{0, 1}, {6, 5}, rows, bt).values);
}

template <class T>
void check_transpose(std::vector<std::int64_t> dims, std::vector<int> order) {
  host_array<T> x(dims);
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<T>(i % 101);
  ops::permutation p{};
  std::vector<std::int64_t> result_dims, strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  for (std::size_t i = 0; i < order.size(); ++i) {
    p.set(static_cast<int>(i), order[i]);
    result_dims.push_back(dims[static_cast<std::size_t>(order[i])]);
  }
  const auto y = run_kernel<ops::transpose, T>(p, result_dims, x);
  bool same = true;
  for (std::size_t e = 0; e < y.values.size(); ++e) {
    std::int64_t rest = static_cast<std::int64_t>(e), at = 0;
    for (std::size_t i = order.size(); i-- > 0; rest /= result_dims[i])
      at += rest % result_dims[i] * strides[static_cast<std::size_t>(order[i])];
    same = same && y.values[e] == x.values[static_cast<std::size_t>(at)];
  }
  CHECK(same);
}

TEST_CASE_TEMPLATE("transposes by definition", T, float, double, std::int8_t) {
  check_transpose<T>({}, {});
  check_transpose<T>({5}, {0});
  check_transpose<T>({45, 67}, {1, 0});
  check_transpose<T>({3, 4, 5}, {2, 1, 0});
  check_transpose<T>({3, 4, 5}, {1, 0, 2});
  check_transpose<T>({3, 4, 5}, {1, 2, 0});
  check_transpose<T>({3, 1, 5}, {1, 0, 2});
  check_transpose<T>({2, 3, 4, 5}, {0, 2, 1, 3});
  check_transpose<T>({2, 3, 4, 5}, {3, 1, 0, 2});
  check_transpose<T>({2, 3, 2, 3, 2}, {4, 0, 3, 1, 2});
  check_transpose<T>({2, 0, 3}, {2, 0, 1});
}

}  // namespace
