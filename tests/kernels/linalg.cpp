#include <flowgraph/kernels/cpu/einsum.hpp>
#include <flowgraph/kernels/cpu/linalg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::testing::host_array;
using flowgraph::testing::run_kernel;

host_array<double> square(std::vector<double> values) {
  std::int64_t n = 0;
  while (n * n < static_cast<std::int64_t>(values.size())) ++n;
  return {{n, n}, std::move(values)};
}

double determinant(const host_array<double>& a) {
  return run_kernel<ops::matrix_determinant, double>(no_attrs{}, {}, a).values[0];
}

// By definition: signed determinants of what is left without a row and a column.
std::vector<double> cofactors_by_minors(const host_array<double>& a) {
  const auto n = static_cast<std::size_t>(a.dims[0]);
  std::vector<double> c;
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t s = 0; s < n; ++s) {
      std::vector<double> minor;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (i != r && j != s) minor.push_back(a.values[i * n + j]);
      c.push_back(((r + s) % 2 == 0 ? 1 : -1) * determinant(square(minor)));
    }
  return c;
}

void check_cofactors(const host_array<double>& a) {
  const auto c = run_kernel<ops::cofactors, double>(no_attrs{}, a.dims, a);
  const auto expected = cofactors_by_minors(a);
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(c.values[i] == doctest::Approx(expected[i]).epsilon(1e-12).scale(1));
}

TEST_CASE("cofactors of regular and of singular matrices") {
  check_cofactors(square({7}));
  check_cofactors(square({0}));
  check_cofactors(square({1, 2, 3, 4}));
  check_cofactors(square({1, 2, 2, 4}));
  check_cofactors(square({0, 0, 0, 0}));
  check_cofactors(square({2, -1, 0, 3, 5, 1, 1, 1, 4}));
  check_cofactors(square({1, 2, 3, 4, 5, 6, 7, 8, 9}));  // rank 2
  check_cofactors(square({1, 2, 3, 2, 4, 6, 3, 6, 9}));  // rank 1: all zero
  check_cofactors(square({0, 1, 0, 0, 0, 0, 2, 0, 3, 0, 0, 1, 0, 0, 1, 1}));
  check_cofactors(square({1, 1, 2, 0, 2, 1, 0, 1, 3, 2, 2, 1, 0, 5, 1, 1}));  // the third row is the sum of two
}

TEST_CASE("an inverse, a solution and a solution by the transposed matrix") {
  const host_array<double> a = square({0, 2, 1, 1, 0, 3, 2, 1, 0});
  const auto y = run_kernel<ops::matrix_inverse, double>(no_attrs{}, {3, 3}, a);
  for (const bool adjoint : {false, true}) {
    const host_array<double> b({3, 2}, {1, -2, 0.5, 3, 4, 1});
    const auto x = run_kernel<ops::solve, double>(ops::solve::attrs{adjoint}, {3, 2}, a, b);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j) {
        double product = 0;
        for (std::size_t l = 0; l < 3; ++l) product += a.values[adjoint ? l * 3 + i : i * 3 + l] * x.values[l * 2 + j];
        CHECK(product == doctest::Approx(b.values[i * 2 + j]));
      }
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::size_t l = 0; l < 3; ++l) product += a.values[i * 3 + l] * y.values[l * 3 + j];
      CHECK(product == doctest::Approx(i == j ? 1 : 0).scale(1));
    }
}

TEST_CASE("leading axes of a system broadcast on both sides") {
  const host_array<double> a({2, 1, 1, 1}, {2, 4}), b({3, 1, 2}, {2, 4, 6, 8, 10, 12});
  const auto x = run_kernel<ops::solve, double>(ops::solve::attrs{0}, {2, 3, 1, 2}, a, b);
  CHECK(x.values == std::vector<double>{1, 2, 3, 4, 5, 6, 0.5, 1, 1.5, 2, 2.5, 3});
}

template <class F>
std::string message_of(problem why, const F& f) {
  try {
    f();
  } catch (const execution_error& e) {
    CHECK(e.why() == why);
    return e.what();
  }
  return "nothing thrown";
}

TEST_CASE("a matrix without a result is named") {
  const host_array<double> singular = square({1, 2, 2, 4}), b({2, 1}, {1, 1});
  CHECK(message_of(problem::singular_matrix, [&] {
          run_kernel<ops::matrix_inverse, double>(no_attrs{}, {2, 2}, singular);
        }) == "matrix_inverse: the matrix is singular");
  const host_array<double> batch({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4});
  CHECK(message_of(problem::singular_matrix, [&] {
          run_kernel<ops::solve, double>(ops::solve::attrs{0}, {2, 2, 1}, batch, b);
        }) == "solve: the matrix is singular (matrix 1 of a batch of 2)");
  const host_array<double> no_pivot = square({1, 0, 5, 0});
  CHECK(message_of(problem::singular_matrix, [&] {
          run_kernel<ops::triangular_solve, double>(ops::triangular_solve::attrs{1, 0}, {2, 1}, no_pivot, b);
        }) == "triangular_solve: the matrix has a zero on its diagonal");
  const host_array<double> indefinite = square({1, 2, 2, 1});
  CHECK(message_of(problem::not_positive_definite, [&] {
          run_kernel<ops::cholesky, double>(no_attrs{}, {2, 2}, indefinite);
        }) == "cholesky: the matrix is not positive definite");
}

TEST_CASE("cholesky reads the symmetric part and leaves zeros above the diagonal") {
  const host_array<double> a = square({4, 3, 1, 5});  // symmetric part [4 2; 2 5]
  CHECK(run_kernel<ops::cholesky, double>(no_attrs{}, {2, 2}, a).values == std::vector<double>{2, 0, 1, 2});
  constexpr std::int64_t n = 70;  // larger than Eigen's blocks
  host_array<double> large({n, n});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      large.values[i * n + j] = 1.0 / (1.0 + static_cast<double>(i > j ? i - j : j - i));
  const auto l = run_kernel<ops::cholesky, double>(no_attrs{}, {n, n}, large);
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < n; ++k) product += l.values[i * n + k] * l.values[j * n + k];
      worst = std::max(worst, std::abs(product - large.values[i * n + j]));
    }
  CHECK(worst < 1e-13);
}

TEST_CASE("NaN in, NaN out") {
  const host_array<double> a = square({std::numeric_limits<double>::quiet_NaN(), 0, 0, 1}), b({2, 1}, {1, 1});
  CHECK(std::isnan(run_kernel<ops::solve, double>(ops::solve::attrs{0}, {2, 1}, a, b).values[0]));
  CHECK(std::isnan(run_kernel<ops::cholesky, double>(no_attrs{}, {2, 2}, a).values[0]));
  CHECK(std::isnan(determinant(a)));
}

TEST_CASE("bands of matrices that are not square") {
  const host_array<std::int32_t> x({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto band = [&](std::int64_t lower, std::int64_t upper) {
    return run_kernel<ops::band_part, std::int32_t>(ops::band_part::attrs{lower, upper}, {2, 3}, x).values;
  };
  CHECK(band(-1, 0) == std::vector<std::int32_t>{1, 0, 0, 4, 5, 0});
  CHECK(band(0, -1) == std::vector<std::int32_t>{1, 2, 3, 0, 5, 6});
  CHECK(band(0, 1) == std::vector<std::int32_t>{1, 2, 0, 0, 5, 6});
  CHECK(band(-1, -1) == x.values);
}

TEST_CASE("diagonals go in and come out, batch by batch") {
  const host_array<float> v({2, 2}, {1, 2, 3, 4});
  const auto m = run_kernel<ops::diag, float>(no_attrs{}, {2, 2, 2}, v);
  CHECK(m.values == std::vector<float>{1, 0, 0, 2, 3, 0, 0, 4});
  CHECK(run_kernel<ops::diag_part, float>(no_attrs{}, {2, 2}, m).values == v.values);
}

TEST_CASE("einsum puts a repeated letter of the result on the diagonal, and sums of nothing are 0") {
  const host_array<double> v({2}, {3, 4});
  CHECK(run_kernel<ops::einsum, double>(ops::einsum_attrs{ops::pack("i->ii"), 1}, {2, 2}, v).values ==
        std::vector<double>{3, 0, 0, 4});
  const host_array<double> none({2, 0}, {});
  CHECK(run_kernel<ops::einsum, double>(ops::einsum_attrs{ops::pack("ij->i"), 0}, {2}, none).values ==
        std::vector<double>{0, 0});
}

TEST_CASE("einsum by its definition") {
  host_array<double> a({2, 3, 4}), b({4, 3, 2}), c({2});
  for (auto* x : {&a, &b, &c})
    for (std::size_t i = 0; i < x->values.size(); ++i) x->values[i] = static_cast<double>(i % 5) - 1.5;
  const auto y = run_kernel<ops::einsum, double>(ops::einsum_attrs{ops::pack("pqr,rqs,s->qp"), 0}, {3, 2}, a, b, c);
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t q = 0; q < 3; ++q) {
      double sum = 0;
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t s = 0; s < 2; ++s)
          sum += a.values[(p * 3 + q) * 4 + r] * b.values[(r * 3 + q) * 2 + s] * c.values[s];
      CHECK(y.values[q * 2 + p] == doctest::Approx(sum));
    }
}

}  // namespace
