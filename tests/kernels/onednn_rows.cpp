// oneDNN's softmax and mean pooling beside the library's own kernels, which the goldens hold, at sizes that are cut.
#if FLOWGRAPH_ONEDNN
#include <flowgraph/kernels/cpu/pool.hpp>
#include <flowgraph/kernels/cpu/softmax.hpp>
#include <flowgraph/kernels/onednn/provider.hpp>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::detail::onednn::everywhere, flowgraph::detail::onednn::where_faster;
using flowgraph::testing::host_array, flowgraph::testing::spread_numbers;

template <class Op, class Attrs>
void check_beside_own(const Attrs& attributes, std::vector<std::int64_t> result, host_array<float> in) {
  host_array<float> made(result);
  testing::run_prepared<Op>(everywhere, attributes, made, in);
  const auto own = testing::run_kernel<Op, float>(attributes, result, in);
  float worst = 0;
  for (std::size_t i = 0; i < own.values.size(); ++i)
    worst = std::max(worst, std::abs(made.values[i] - own.values[i]) / (1 + std::abs(own.values[i])));
  CHECK(worst < 5e-6f);
}

}  // namespace

TEST_CASE("oneDNN: softmax of many rows, and of what remains") {
  for (const std::int64_t n : {1, 7, 64, 1001}) {
    check_beside_own<ops::softmax>(ops::axis_attrs{1}, {133, n}, spread_numbers<float>({133, n}));
    check_beside_own<ops::log_softmax>(ops::axis_attrs{2}, {7, 19, n}, spread_numbers<float>({7, 19, n}));
  }
}

TEST_CASE("oneDNN: the result of a softmax may take its operand's place") {
  const auto in_place = [](const op_def& op, host_array<float> x) {
    const auto words = detail::words_of(ops::axis_attrs{1});
    const array_view view = x.view();
    const kernel_args k = testing::arguments(&view, 1, &view, words);
    everywhere.prepare(op, k, 1)->run(k);
    return x.values;
  };
  for (const std::int64_t n : {5, 64, 301}) {
    auto x = spread_numbers<float>({70, n});
    host_array<float> y(x.dims);
    testing::run_prepared<ops::softmax>(everywhere, ops::axis_attrs{1}, y, x);
    CHECK(in_place(op_def_of<ops::softmax>, x) == y.values);
    testing::run_prepared<ops::log_softmax>(everywhere, ops::axis_attrs{1}, y, x);
    CHECK(in_place(op_def_of<ops::log_softmax>, x) == y.values);
  }
}

TEST_CASE("oneDNN: mean pooling of many images, and of what remains") {
  const pool overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = same}, plain{};
  check_beside_own<ops::avg_pool>(overlapping, {11, 10, 9, 40}, spread_numbers<float>({11, 20, 17, 40}));
  check_beside_own<ops::avg_pool>(plain, {3, 5, 6, 3}, spread_numbers<float>({3, 11, 12, 3}));
  check_beside_own<ops::avg_pool_gradient>(overlapping, {11, 20, 17, 40}, spread_numbers<float>({11, 10, 9, 40}));
  check_beside_own<ops::avg_pool_gradient>(plain, {3, 11, 12, 3}, spread_numbers<float>({3, 5, 6, 3}));
}

TEST_CASE("oneDNN: what it is slow at is left to the library's own kernels") {
  CHECK_FALSE(testing::prepares<ops::softmax, float>(everywhere, ops::axis_attrs{0}, {64, 512}, {{64, 512}}));
  CHECK_FALSE(testing::prepares<ops::softmax, float>(where_faster, ops::axis_attrs{1}, {8, 10}, {{8, 10}}));
  CHECK(testing::prepares<ops::softmax, float>(where_faster, ops::axis_attrs{1}, {64, 512}, {{64, 512}}));
  CHECK_FALSE(testing::prepares<ops::max_pool, float>(everywhere, pool{}, {8, 28, 28, 64}, {{8, 56, 56, 64}}));
}
#endif
