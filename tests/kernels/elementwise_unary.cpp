#include <cstdint>

#include <doctest/doctest.h>

#include <flowgraph/language/elementwise.hpp>

#include "support/op_rows.hpp"

using namespace flowgraph;
using flowgraph::testing::op_rows;

TEST_CASE("functions of one operand agree with the referees") {
  const op_rows rows("elementwise");
  rows.row<tensor<float, 2, 5>>("neg", [](auto x) { return neg(x); });
  rows.row<tensor<float, 7>>("abs", [](auto x) { return abs(x); });
  rows.row<tensor<float, 2, 5>>("exp", [](auto x) { return exp(x); });
  rows.row<tensor<float, 7>>("log", [](auto x) { return log(x); });
  rows.row<tensor<float, 7>>("log1p", [](auto x) { return log1p(x); });
  rows.row<tensor<float, 2, 5>>("expm1", [](auto x) { return expm1(x); });
  rows.row<tensor<float, 7>>("sqrt", [](auto x) { return sqrt(x); });
  rows.row<tensor<float, 7>>("rsqrt", [](auto x) { return rsqrt(x); });
  rows.row<tensor<float, 2, 5>>("square", [](auto x) { return square(x); });
  rows.row<tensor<float, 7>>("reciprocal", [](auto x) { return reciprocal(x); });
  rows.row<tensor<float, 7>>("sin", [](auto x) { return sin(x); });
  rows.row<tensor<float, 7>>("cos", [](auto x) { return cos(x); });
  rows.row<tensor<float, 7>>("tan", [](auto x) { return tan(x); });
  rows.row<tensor<float, 7>>("tanh", [](auto x) { return tanh(x); });
  rows.row<tensor<float, 7>>("sigmoid", [](auto x) { return sigmoid(x); });
  rows.row<tensor<float, 7>>("relu", [](auto x) { return relu(x); });
  rows.row<tensor<float, 7>>("relu6", [](auto x) { return relu6(x); });
  rows.row<tensor<float, 7>>("selu", [](auto x) { return selu(x); });
  rows.row<tensor<float, 3, 5>>("gelu", [](auto x) { return gelu(x); });
  rows.row<tensor<float, 7>>("silu", [](auto x) { return silu(x); });
  rows.row<tensor<float, 7>>("softplus", [](auto x) { return softplus(x); });
  rows.row<tensor<float, 7>>("erf", [](auto x) { return erf(x); });
  rows.row<tensor<double, 2, 3>>("neg_f64", [](auto x) { return neg(x); });
  rows.row<tensor<double, 2, 3>>("exp_f64", [](auto x) { return exp(x); });
  rows.row<tensor<double, 3>>("log_f64", [](auto x) { return log(x); });
  rows.row<tensor<double, 3>>("sqrt_f64", [](auto x) { return sqrt(x); });
  rows.row<tensor<double, 3>>("tanh_f64", [](auto x) { return tanh(x); });
  rows.row<tensor<double, 3>>("sigmoid_f64", [](auto x) { return sigmoid(x); });
  rows.row<tensor<double, 3>>("selu_f64", [](auto x) { return selu(x); });
  rows.row<tensor<double, 3, 3>>("gelu_f64", [](auto x) { return gelu(x); });
  rows.row<tensor<double, 3>>("softplus_f64", [](auto x) { return softplus(x); });
  rows.row<tensor<double, 3>>("erf_f64", [](auto x) { return erf(x); });
  rows.row<tensor<float, 7>>("leaky_relu_0.2", [](auto x) { return leaky_relu(x, 0.2); });
  rows.row<tensor<float, 7>>("leaky_relu_0.01", [](auto x) { return leaky_relu(x, 0.01); });
  rows.row<tensor<float, 7>>("elu_1.0", [](auto x) { return elu(x, 1.0); });
  rows.row<tensor<float, 7>>("elu_0.5", [](auto x) { return elu(x, 0.5); });
  rows.row<tensor<float, 7>>("sign", [](auto x) { return sign(x); });
  rows.row<tensor<int, 3>>("sign_i32", [](auto x) { return sign(x); });
  rows.row<tensor<float, 11>>("floor", [](auto x) { return floor(x); });
  rows.row<tensor<float, 11>>("ceil", [](auto x) { return ceil(x); });
  rows.row<tensor<float, 11>>("round_half_to_even", [](auto x) { return round(x); });
  rows.row<tensor<float, 6>>("isnan", [](auto x) { return isnan(x); });
  rows.row<tensor<float, 6>>("isfinite", [](auto x) { return isfinite(x); });
  rows.row<tensor<float, 7>>("exp_edges", [](auto x) { return exp(x); });
  rows.row<tensor<float, 6>>("log_edges", [](auto x) { return log(x); });
  rows.row<tensor<float, 5>>("log1p_edges", [](auto x) { return log1p(x); });
  rows.row<tensor<float, 6>>("expm1_edges", [](auto x) { return expm1(x); });
  rows.row<tensor<float, 5>>("sqrt_edges", [](auto x) { return sqrt(x); });
  rows.row<tensor<float, 6>>("tanh_edges", [](auto x) { return tanh(x); });
  rows.row<tensor<float, 6>>("sigmoid_edges", [](auto x) { return sigmoid(x); });
  rows.row<tensor<float, 6>>("softplus_edges", [](auto x) { return softplus(x); });
  rows.row<tensor<float, 5>>("relu_edges", [](auto x) { return relu(x); });
  rows.row<tensor<float, 4>>("gelu_edges", [](auto x) { return gelu(x); });
  rows.row<tensor<float, 4>>("silu_edges", [](auto x) { return silu(x); });
  rows.row<tensor<float, 5>>("erf_edges", [](auto x) { return erf(x); });
  rows.row<tensor<float, 4>>("abs_edges", [](auto x) { return abs(x); });
  rows.row<tensor<float, 3>>("selu_edges", [](auto x) { return selu(x); });
  rows.row<tensor<float, 4>>("elu_edges", [](auto x) { return elu(x, 1.0); });
  rows.row<tensor<int, 5>>("neg_i32", [](auto x) { return neg(x); });
  rows.row<tensor<int, 5>>("abs_i32", [](auto x) { return abs(x); });
  rows.row<tensor<int, 5>>("square_i32", [](auto x) { return square(x); });
  rows.row<tensor<bool, 2>>("logical_not", [](auto x) { return logical_not(x); });
}
