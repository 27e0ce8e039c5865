#include <cstdint>

#include <doctest/doctest.h>

#include <flowgraph/language/elementwise.hpp>

#include "support/op_rows.hpp"

using namespace flowgraph;
using flowgraph::testing::op_rows;

namespace {

constexpr auto call_add = [](auto a, auto b) { return add(a, b); };
constexpr auto call_sub = [](auto a, auto b) { return sub(a, b); };
constexpr auto call_mul = [](auto a, auto b) { return mul(a, b); };
constexpr auto call_div = [](auto a, auto b) { return div(a, b); };
constexpr auto call_maximum = [](auto a, auto b) { return maximum(a, b); };
constexpr auto call_minimum = [](auto a, auto b) { return minimum(a, b); };
constexpr auto call_pow = [](auto a, auto b) { return pow(a, b); };
constexpr auto call_floordiv = [](auto a, auto b) { return floordiv(a, b); };
constexpr auto call_mod = [](auto a, auto b) { return mod(a, b); };

}  // namespace

TEST_CASE("arithmetic agrees with the referees") {
  const op_rows rows("elementwise");
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("add_same", call_add);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("add_row", call_add);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 1>>("add_column", call_add);
  rows.row<tensor<float, 5>, tensor<float>>("add_scalar", call_add);
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("add_outer", call_add);
  rows.row<tensor<float, 3>, tensor<float, 2, 1, 3>>("add_left_smaller", call_add);
  rows.row<tensor<float, 1, 1>, tensor<float, 1>>("add_size_one", call_add);
  rows.row<tensor<float, 2, 1, 3>, tensor<float, 2, 3, 1>>("add_middle", call_add);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("sub_same", call_sub);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("sub_row", call_sub);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 1>>("sub_column", call_sub);
  rows.row<tensor<float, 5>, tensor<float>>("sub_scalar", call_sub);
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("sub_outer", call_sub);
  rows.row<tensor<float, 3>, tensor<float, 2, 1, 3>>("sub_left_smaller", call_sub);
  rows.row<tensor<float, 1, 1>, tensor<float, 1>>("sub_size_one", call_sub);
  rows.row<tensor<float, 2, 1, 3>, tensor<float, 2, 3, 1>>("sub_middle", call_sub);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("mul_same", call_mul);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("mul_row", call_mul);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 1>>("mul_column", call_mul);
  rows.row<tensor<float, 5>, tensor<float>>("mul_scalar", call_mul);
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("mul_outer", call_mul);
  rows.row<tensor<float, 3>, tensor<float, 2, 1, 3>>("mul_left_smaller", call_mul);
  rows.row<tensor<float, 1, 1>, tensor<float, 1>>("mul_size_one", call_mul);
  rows.row<tensor<float, 2, 1, 3>, tensor<float, 2, 3, 1>>("mul_middle", call_mul);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("div_same", call_div);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("div_row", call_div);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 1>>("div_column", call_div);
  rows.row<tensor<float, 5>, tensor<float>>("div_scalar", call_div);
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("div_outer", call_div);
  rows.row<tensor<float, 3>, tensor<float, 2, 1, 3>>("div_left_smaller", call_div);
  rows.row<tensor<float, 1, 1>, tensor<float, 1>>("div_size_one", call_div);
  rows.row<tensor<float, 2, 1, 3>, tensor<float, 2, 3, 1>>("div_middle", call_div);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("maximum_same", call_maximum);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("maximum_row", call_maximum);
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("maximum_outer", call_maximum);
  rows.row<tensor<float, 3>, tensor<float, 2, 1, 3>>("maximum_left_smaller", call_maximum);
  rows.row<tensor<float, 4>, tensor<float, 4>>("maximum_nan_propagates", call_maximum);
  rows.row<tensor<std::uint8_t, 3>, tensor<std::uint8_t, 3>>("maximum_u8", call_maximum);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("minimum_same", call_minimum);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("minimum_row", call_minimum);
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("minimum_outer", call_minimum);
  rows.row<tensor<float, 3>, tensor<float, 2, 1, 3>>("minimum_left_smaller", call_minimum);
  rows.row<tensor<float, 4>, tensor<float, 4>>("minimum_nan_propagates", call_minimum);
  rows.row<tensor<std::uint8_t, 3>, tensor<std::uint8_t, 3>>("minimum_u8", call_minimum);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("pow_same", call_pow);
  rows.row<tensor<float, 5>, tensor<float>>("pow_scalar_exponent", call_pow);
  rows.row<tensor<float, 3, 1>, tensor<float, 2>>("pow_column_row", call_pow);
  rows.row<tensor<float, 4>, tensor<float, 4>>("pow_negative_base", call_pow);
  rows.row<tensor<float, 3>, tensor<float, 3>>("pow_zero_base", call_pow);
  rows.row<tensor<int, 2, 3>, tensor<int, 3>>("add_i32", call_add);
  rows.row<tensor<int, 2, 3>, tensor<int, 3>>("sub_i32", call_sub);
  rows.row<tensor<int, 2, 3>, tensor<int, 3>>("mul_i32", call_mul);
  rows.row<tensor<int, 9>, tensor<int, 9>>("floordiv_i32_signs", call_floordiv);
  rows.row<tensor<int, 9>, tensor<int, 9>>("mod_i32_signs", call_mod);
  rows.row<tensor<std::int64_t, 2, 3>, tensor<std::int64_t, 3>>("add_i64", call_add);
  rows.row<tensor<std::int64_t, 2, 3>, tensor<std::int64_t, 3>>("sub_i64", call_sub);
  rows.row<tensor<std::int64_t, 2, 3>, tensor<std::int64_t, 3>>("mul_i64", call_mul);
  rows.row<tensor<std::int64_t, 9>, tensor<std::int64_t, 9>>("floordiv_i64_signs", call_floordiv);
  rows.row<tensor<std::int64_t, 9>, tensor<std::int64_t, 9>>("mod_i64_signs", call_mod);
  rows.row<tensor<int, 3, 1>, tensor<int, 2>>("floordiv_i32_broadcast", call_floordiv);
  rows.row<tensor<int, 3, 1>, tensor<int, 2>>("mod_i32_broadcast", call_mod);
  rows.row<tensor<float, 6>, tensor<float, 6>>("floordiv_f32_signs", call_floordiv);
  rows.row<tensor<float, 6>, tensor<float, 6>>("mod_f32_signs", call_mod);
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 1>>("mod_f32_column", call_mod);
  rows.row<tensor<half, 5>, tensor<half, 5>>("add_f16", call_add);
  rows.row<tensor<half, 5>, tensor<half, 5>>("mul_f16", call_mul);
  rows.row<tensor<half, 5>, tensor<half, 5>>("div_f16", call_div);
  rows.row<tensor<bfloat16, 5>, tensor<bfloat16, 5>>("add_bf16", call_add);
  rows.row<tensor<bfloat16, 5>, tensor<bfloat16, 5>>("mul_bf16", call_mul);
  rows.row<tensor<bfloat16, 5>, tensor<bfloat16, 5>>("div_bf16", call_div);
}
