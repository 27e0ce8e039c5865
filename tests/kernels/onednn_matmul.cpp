// oneDNN's products held to plain loops, at sizes where its parts, panels and their remainders begin and end.
#if FLOWGRAPH_ONEDNN
#include <flowgraph/kernels/onednn/provider.hpp>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::testing::host_array, flowgraph::testing::whole_numbers;

void check_product(std::int64_t m, std::int64_t k, std::int64_t n) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(ta);
      CAPTURE(tb);
      auto a = ta ? whole_numbers<float>({k, m}, 3) : whole_numbers<float>({m, k}, 3);
      auto b = tb ? whole_numbers<float>({n, k}, 5) : whole_numbers<float>({k, n}, 5);
      host_array<float> y({m, n});
      testing::run_prepared<ops::matmul>(detail::onednn::everywhere, ops::matmul::attrs{ta, tb}, y, a, b);
      std::vector<float> expected(static_cast<std::size_t>(m * n));
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t l = 0; l < k; ++l)
          for (std::int64_t j = 0; j < n; ++j)
            expected[static_cast<std::size_t>(i * n + j)] +=
                a.values[static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                b.values[static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
      CHECK(y.values == expected);
    }
}

}  // namespace

TEST_CASE("oneDNN: products of all orientations, with remainders of rows, columns and panels") {
  check_product(1, 1, 1);
  check_product(17, 23, 31);
  check_product(40, 515, 600);   // panels of b
  check_product(70, 130, 300);   // parts of columns
  check_product(300, 70, 120);   // parts of rows
  check_product(70, 40, 1100);   // parts of both, with AVX-512
  check_product(1500, 5, 1450);  // large enough for sgemm to copy both operands
}

TEST_CASE("oneDNN: leading axes broadcast on both sides") {
  auto a = whole_numbers<float>({2, 1, 2, 3}, 3), b = whole_numbers<float>({4, 3, 2}, 5);
  host_array<float> y({2, 4, 2, 2});
  testing::run_prepared<ops::matmul>(detail::onednn::everywhere, ops::matmul::attrs{0, 0}, y, a, b);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t c = 0; c < 2; ++c) {
          float sum = 0;
          for (std::size_t l = 0; l < 3; ++l) sum += a.values[i * 6 + r * 3 + l] * b.values[j * 6 + l * 2 + c];
          CHECK(y.values[((i * 4 + j) * 2 + r) * 2 + c] == sum);
        }
}

TEST_CASE("oneDNN: small products, other types and empty operands are left to the library's own kernels") {
  using detail::onednn::everywhere, detail::onednn::where_faster;
  const ops::matmul::attrs plain{0, 0};
  CHECK(testing::prepares<ops::matmul, float>(everywhere, plain, {2, 2}, {{2, 2}, {2, 2}}));
  CHECK_FALSE(testing::prepares<ops::matmul, float>(where_faster, plain, {2, 2}, {{2, 2}, {2, 2}}));
  CHECK(testing::prepares<ops::matmul, float>(where_faster, plain, {128, 128}, {{128, 128}, {128, 128}}));
  CHECK_FALSE(testing::prepares<ops::matmul, double>(everywhere, plain, {128, 128}, {{128, 128}, {128, 128}}));
  CHECK_FALSE(testing::prepares<ops::matmul, float>(everywhere, plain, {2, 2}, {{2, 0}, {0, 2}}));
  CHECK_FALSE(testing::prepares<ops::add, float>(everywhere, no_attrs{}, {64}, {{64}, {64}}));
}
#endif
