// Reductions against the referees and against differences; second derivatives.
#include <doctest/doctest.h>

#include <limits>

#include <flowgraph/functions/reduction.hpp>
#include <flowgraph/language/gradients.hpp>

#include "support/derivatives.hpp"
#include "support/op_rows.hpp"

namespace fg = flowgraph;

namespace {

using fg::tensor;
using fg::testing::op_rows;

TEST_CASE("reduce_sum") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("reduce_sum_all", [](auto x) { return fg::reduce_sum<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_sum_all_keepdims",
                                [](auto x) { return fg::reduce_sum<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("reduce_sum_rows", [](auto x) { return fg::reduce_sum<1>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_sum_columns", [](auto x) { return fg::reduce_sum<0>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_sum_columns_keepdims",
                                [](auto x) { return fg::reduce_sum<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("reduce_sum_negative", [](auto x) { return fg::reduce_sum<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_sum_middle", [](auto x) { return fg::reduce_sum<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_sum_outer_two", [](auto x) { return fg::reduce_sum<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_sum_outer_two_keepdims",
                                   [](auto x) { return fg::reduce_sum<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("reduce_sum_vector", [](auto x) { return fg::reduce_sum<0>(x); });
  rows.row<tensor<float, 3, 1>>("reduce_sum_size_one", [](auto x) { return fg::reduce_sum<1>(x); });
  rows.row<tensor<std::int32_t, 2, 4>>("reduce_sum_i32", [](auto x) { return fg::reduce_sum<1>(x); });
}

TEST_CASE("reduce_mean") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("reduce_mean_all", [](auto x) { return fg::reduce_mean<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_mean_all_keepdims",
                                [](auto x) { return fg::reduce_mean<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("reduce_mean_rows", [](auto x) { return fg::reduce_mean<1>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_mean_columns", [](auto x) { return fg::reduce_mean<0>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_mean_columns_keepdims",
                                [](auto x) { return fg::reduce_mean<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("reduce_mean_negative", [](auto x) { return fg::reduce_mean<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_mean_middle", [](auto x) { return fg::reduce_mean<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_mean_outer_two", [](auto x) { return fg::reduce_mean<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_mean_outer_two_keepdims",
                                   [](auto x) { return fg::reduce_mean<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("reduce_mean_vector", [](auto x) { return fg::reduce_mean<0>(x); });
  rows.row<tensor<float, 3, 1>>("reduce_mean_size_one", [](auto x) { return fg::reduce_mean<1>(x); });
  rows.row<tensor<double, 2, 3>>("reduce_mean_f64", [](auto x) { return fg::reduce_mean<1>(x); });
}

TEST_CASE("reduce_max") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("reduce_max_all", [](auto x) { return fg::reduce_max<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_max_all_keepdims",
                                [](auto x) { return fg::reduce_max<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("reduce_max_rows", [](auto x) { return fg::reduce_max<1>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_max_columns", [](auto x) { return fg::reduce_max<0>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_max_columns_keepdims",
                                [](auto x) { return fg::reduce_max<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("reduce_max_negative", [](auto x) { return fg::reduce_max<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_max_middle", [](auto x) { return fg::reduce_max<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_max_outer_two", [](auto x) { return fg::reduce_max<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_max_outer_two_keepdims",
                                   [](auto x) { return fg::reduce_max<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("reduce_max_vector", [](auto x) { return fg::reduce_max<0>(x); });
  rows.row<tensor<float, 3, 1>>("reduce_max_size_one", [](auto x) { return fg::reduce_max<1>(x); });
  rows.row<tensor<std::int32_t, 2, 4>>("reduce_max_i32", [](auto x) { return fg::reduce_max<1>(x); });
  rows.row<tensor<float, 3>>("reduce_max_all_negative", [](auto x) { return fg::reduce_max<0>(x); });
  rows.row<tensor<float, 2, 2>>("reduce_max_infinities", [](auto x) { return fg::reduce_max<1>(x); });
}

TEST_CASE("reduce_min") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("reduce_min_all", [](auto x) { return fg::reduce_min<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_min_all_keepdims",
                                [](auto x) { return fg::reduce_min<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("reduce_min_rows", [](auto x) { return fg::reduce_min<1>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_min_columns", [](auto x) { return fg::reduce_min<0>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_min_columns_keepdims",
                                [](auto x) { return fg::reduce_min<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("reduce_min_negative", [](auto x) { return fg::reduce_min<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_min_middle", [](auto x) { return fg::reduce_min<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_min_outer_two", [](auto x) { return fg::reduce_min<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_min_outer_two_keepdims",
                                   [](auto x) { return fg::reduce_min<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("reduce_min_vector", [](auto x) { return fg::reduce_min<0>(x); });
  rows.row<tensor<float, 3, 1>>("reduce_min_size_one", [](auto x) { return fg::reduce_min<1>(x); });
  rows.row<tensor<std::int32_t, 2, 4>>("reduce_min_i32", [](auto x) { return fg::reduce_min<1>(x); });
  rows.row<tensor<float, 3>>("reduce_min_all_negative", [](auto x) { return fg::reduce_min<0>(x); });
  rows.row<tensor<float, 2, 2>>("reduce_min_infinities", [](auto x) { return fg::reduce_min<1>(x); });
}

TEST_CASE("reduce_prod") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("reduce_prod_all", [](auto x) { return fg::reduce_prod<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_prod_all_keepdims",
                                [](auto x) { return fg::reduce_prod<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("reduce_prod_rows", [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_prod_columns", [](auto x) { return fg::reduce_prod<0>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_prod_columns_keepdims",
                                [](auto x) { return fg::reduce_prod<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("reduce_prod_negative", [](auto x) { return fg::reduce_prod<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_prod_middle", [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_prod_outer_two", [](auto x) { return fg::reduce_prod<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_prod_outer_two_keepdims",
                                   [](auto x) { return fg::reduce_prod<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("reduce_prod_vector", [](auto x) { return fg::reduce_prod<0>(x); });
  rows.row<tensor<float, 3, 1>>("reduce_prod_size_one", [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row<tensor<std::int32_t, 2, 4>>("reduce_prod_i32", [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row<tensor<float, 4>>("reduce_prod_one_zero", [](auto x) { return fg::reduce_prod<0>(x); });
  rows.row<tensor<float, 4>>("reduce_prod_two_zeros", [](auto x) { return fg::reduce_prod<0>(x); });
}

TEST_CASE("reduce_logsumexp") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("reduce_logsumexp_all", [](auto x) { return fg::logsumexp<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_logsumexp_all_keepdims",
                                [](auto x) { return fg::logsumexp<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("reduce_logsumexp_rows", [](auto x) { return fg::logsumexp<1>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_logsumexp_columns", [](auto x) { return fg::logsumexp<0>(x); });
  rows.row<tensor<float, 3, 2>>("reduce_logsumexp_columns_keepdims",
                                [](auto x) { return fg::logsumexp<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("reduce_logsumexp_negative", [](auto x) { return fg::logsumexp<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_logsumexp_middle", [](auto x) { return fg::logsumexp<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_logsumexp_outer_two", [](auto x) { return fg::logsumexp<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("reduce_logsumexp_outer_two_keepdims",
                                   [](auto x) { return fg::logsumexp<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("reduce_logsumexp_vector", [](auto x) { return fg::logsumexp<0>(x); });
  rows.row<tensor<float, 3, 1>>("reduce_logsumexp_size_one", [](auto x) { return fg::logsumexp<1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_logsumexp_large", [](auto x) { return fg::logsumexp<1>(x); });
  rows.row<tensor<float, 2, 3>>("reduce_logsumexp_minus_infinity", [](auto x) { return fg::logsumexp<1>(x); });
}

TEST_CASE("norm") {
  const op_rows rows("reduction");
  rows.row<tensor<float, 2, 3>>("norm_all", [](auto x) { return fg::norm<0, 1>(x); });
  rows.row<tensor<float, 2, 3>>("norm_all_keepdims", [](auto x) { return fg::norm<0, 1>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 3>>("norm_rows", [](auto x) { return fg::norm<1>(x); });
  rows.row<tensor<float, 3, 2>>("norm_columns", [](auto x) { return fg::norm<0>(x); });
  rows.row<tensor<float, 3, 2>>("norm_columns_keepdims", [](auto x) { return fg::norm<0>(x, fg::keepdims); });
  rows.row<tensor<float, 2, 2, 3>>("norm_negative", [](auto x) { return fg::norm<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("norm_middle", [](auto x) { return fg::norm<1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("norm_outer_two", [](auto x) { return fg::norm<0, 2>(x); });
  rows.row<tensor<float, 2, 3, 2>>("norm_outer_two_keepdims", [](auto x) { return fg::norm<0, 2>(x, fg::keepdims); });
  rows.row<tensor<float, 7>>("norm_vector", [](auto x) { return fg::norm<0>(x); });
  rows.row<tensor<float, 3, 1>>("norm_size_one", [](auto x) { return fg::norm<1>(x); });
}

TEST_CASE("reduce_any") {
  const op_rows rows("reduction");
  rows.row<tensor<bool, 3, 3>>("reduce_any_rows", [](auto x) { return fg::reduce_any<1>(x); });
  rows.row<tensor<bool, 3, 3>>("reduce_any_columns_keepdims",
                               [](auto x) { return fg::reduce_any<0>(x, fg::keepdims); });
  rows.row<tensor<bool, 3, 3>>("reduce_any_all", [](auto x) { return fg::reduce_any<0, 1>(x); });
}

TEST_CASE("reduce_all") {
  const op_rows rows("reduction");
  rows.row<tensor<bool, 3, 3>>("reduce_all_rows", [](auto x) { return fg::reduce_all<1>(x); });
  rows.row<tensor<bool, 3, 3>>("reduce_all_columns_keepdims",
                               [](auto x) { return fg::reduce_all<0>(x, fg::keepdims); });
  rows.row<tensor<bool, 3, 3>>("reduce_all_all", [](auto x) { return fg::reduce_all<0, 1>(x); });
}

TEST_CASE("second derivatives of reductions") {
  using fg::testing::check_second_order;
  check_second_order<tensor<double, 2, 3>>([](auto x) { return fg::reduce_sum<1>(square(x)); });
  check_second_order<tensor<double, 2, 3>>([](auto x) { return square(fg::reduce_mean<0>(x)); });
  check_second_order<tensor<double, 2, 3>>([](auto x) { return square(fg::reduce_max<1>(x)); });
  check_second_order<tensor<double, 2, 4>>([](auto x) { return fg::reduce_prod<1>(x); });
  check_second_order<tensor<double, 2, 2, 3>>([](auto x) { return fg::reduce_prod<0, 2>(x, fg::keepdims); });
  check_second_order<tensor<double, 2, 3>>([](auto x) { return fg::logsumexp<0>(x); });
  check_second_order<tensor<double, 2, 3>>([](auto x) { return fg::norm<1>(x); });
  check_second_order<tensor<double, 2, 3>>([](auto x) { return square(fg::norm<1>(x, fg::norm_kind::l1)); });
  check_second_order<tensor<double, 2, 3>>([](auto x) { return square(fg::norm<1>(x, fg::norm_kind::max)); });
}

TEST_CASE("gradients at ties, zeros and infinities") {
  using fg::testing::check_gradient_at;
  using four = tensor<double, 4>;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check_gradient_at<four>([](auto x) { return reduce_max(x) * 3; }, {1, 2, 2, 0}, {0, 1.5, 1.5, 0});
  check_gradient_at<four>([](auto x) { return reduce_min(x); }, {-1, -1, -1, 0}, {1. / 3, 1. / 3, 1. / 3, 0});
  check_gradient_at<four>([](auto x) { return reduce_prod(x); }, {2, 0, 3, 4}, {0, 24, 0, 0});
  check_gradient_at<four>([](auto x) { return reduce_prod(x); }, {2, 0, 0, 4}, {0, 0, 0, 0});
  check_gradient_at<four>([](auto x) { return norm(x); }, {0, 0, 0, 0}, {0, 0, 0, 0});
  check_gradient_at<four>([](auto x) { return logsumexp(x); }, {-infinity, -infinity, -infinity, -infinity},
                          {0, 0, 0, 0});
  check_gradient_at<four>([](auto x) { return logsumexp(x); }, {-infinity, 1000, 1000, -infinity}, {0, 0.5, 0.5, 0});
}

// The second derivative of a product at zeros: sum_i (prod of the others)^2 differentiated once more by hand.
TEST_CASE("second derivatives of a product with zeros") {
  using fg::testing::check_gradient_at;
  const auto squared_slopes = [](auto x) { return square(gradients(reduce_prod(x), x)); };
  // x = (a, b, c): slopes (bc, ac, ab); d/da (b^2 c^2 + a^2 c^2 + a^2 b^2) = 2a (b^2 + c^2)
  check_gradient_at<tensor<double, 3>>(squared_slopes, {0, 2, 3}, {0, 2 * 2 * 9, 2 * 3 * 4});
  check_gradient_at<tensor<double, 3>>(squared_slopes, {0, 0, 3}, {0, 0, 0});
}

TEST_CASE("a mean over a named extent divides by what is fed") {
  static constexpr fg::dim batch{"batch"};
  const op_rows rows("reduction");
  rows.row<tensor<float, batch, 2>>("reduce_mean_columns", [](auto x) { return fg::reduce_mean<0>(x); });
  rows.row<tensor<float, batch, 3>>("reduce_mean_rows", [](auto x) { return fg::reduce_mean<1>(x); });
  rows.row<tensor<float, batch, 3>>("reduce_mean_all", [](auto x) { return reduce_mean(x); });
}

}  // namespace
