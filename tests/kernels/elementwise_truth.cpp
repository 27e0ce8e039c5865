#include <cstdint>

#include <doctest/doctest.h>

#include <flowgraph/language/elementwise.hpp>

#include "support/op_rows.hpp"

using namespace flowgraph;
using flowgraph::testing::op_rows;

namespace {

constexpr auto call_equal = [](auto a, auto b) { return equal(a, b); };
constexpr auto call_not_equal = [](auto a, auto b) { return not_equal(a, b); };
constexpr auto call_less = [](auto a, auto b) { return less(a, b); };
constexpr auto call_less_equal = [](auto a, auto b) { return less_equal(a, b); };
constexpr auto call_greater = [](auto a, auto b) { return greater(a, b); };
constexpr auto call_greater_equal = [](auto a, auto b) { return greater_equal(a, b); };
constexpr auto call_logical_and = [](auto a, auto b) { return logical_and(a, b); };
constexpr auto call_logical_or = [](auto a, auto b) { return logical_or(a, b); };
constexpr auto call_logical_xor = [](auto a, auto b) { return logical_xor(a, b); };
constexpr auto choose = [](auto c, auto a, auto b) { return select(c, a, b); };

}  // namespace

TEST_CASE("comparisons, logic, choices and casts agree with the referees") {
  const op_rows rows("elementwise");
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("equal_f32_row", call_equal);
  rows.row<tensor<std::int64_t, 6>, tensor<std::int64_t, 6>>("equal_i64", call_equal);
  rows.row<tensor<float, 4>, tensor<float, 4>>("equal_nan", call_equal);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("not_equal_f32_row", call_not_equal);
  rows.row<tensor<std::int64_t, 6>, tensor<std::int64_t, 6>>("not_equal_i64", call_not_equal);
  rows.row<tensor<float, 4>, tensor<float, 4>>("not_equal_nan", call_not_equal);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("less_f32_row", call_less);
  rows.row<tensor<std::int64_t, 6>, tensor<std::int64_t, 6>>("less_i64", call_less);
  rows.row<tensor<float, 4>, tensor<float, 4>>("less_nan", call_less);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("less_equal_f32_row", call_less_equal);
  rows.row<tensor<std::int64_t, 6>, tensor<std::int64_t, 6>>("less_equal_i64", call_less_equal);
  rows.row<tensor<float, 4>, tensor<float, 4>>("less_equal_nan", call_less_equal);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("greater_f32_row", call_greater);
  rows.row<tensor<std::int64_t, 6>, tensor<std::int64_t, 6>>("greater_i64", call_greater);
  rows.row<tensor<float, 4>, tensor<float, 4>>("greater_nan", call_greater);
  rows.row<tensor<float, 2, 3>, tensor<float, 3>>("greater_equal_f32_row", call_greater_equal);
  rows.row<tensor<std::int64_t, 6>, tensor<std::int64_t, 6>>("greater_equal_i64", call_greater_equal);
  rows.row<tensor<float, 4>, tensor<float, 4>>("greater_equal_nan", call_greater_equal);
  rows.row<tensor<bool, 2, 2>, tensor<bool, 2>>("logical_and", call_logical_and);
  rows.row<tensor<bool, 2, 2>, tensor<bool, 2>>("logical_or", call_logical_or);
  rows.row<tensor<bool, 2, 2>, tensor<bool, 2>>("logical_xor", call_logical_xor);
  rows.row<tensor<bool, 2, 3>, tensor<float, 2, 3>, tensor<float, 2, 3>>("select_same", choose);
  rows.row<tensor<bool, 2, 1>, tensor<float, 2, 3>, tensor<float, 2, 3>>("select_condition_column", choose);
  rows.row<tensor<bool, 5>, tensor<float>, tensor<float>>("select_scalars", choose);
  rows.row<tensor<bool, 3, 1>, tensor<float, 1, 2>, tensor<float>>("select_outer", choose);
  rows.row<tensor<bool, 3>, tensor<int, 3>, tensor<int, 3>>("select_i32", choose);
  rows.row<tensor<float, 3, 3>>("clip_both", [](auto x) { return clip(x, -0.5, 0.75); });
  rows.row<tensor<float, 3, 3>>("clip_one_sided", [](auto x) { return clip(x, 0.0, 100.0); });
  rows.row<tensor<int, 5>>("clip_i32", [](auto x) { return clip(x, -3, 4); });
  rows.row_as_is<tensor<float, 5>>("cast_f32_to_i32", [](auto x) { return cast<int>(x); });
  rows.row_as_is<tensor<float, 5>>("cast_f32_to_i64", [](auto x) { return cast<std::int64_t>(x); });
  rows.row_as_is<tensor<float, 4>>("cast_f32_to_u8", [](auto x) { return cast<std::uint8_t>(x); });
  rows.row_as_is<tensor<float, 4>>("cast_f32_to_i8", [](auto x) { return cast<std::int8_t>(x); });
  rows.row_as_is<tensor<float, 4>>("cast_f32_to_bool", [](auto x) { return cast<bool>(x); });
  rows.row_as_is<tensor<float, 3>>("cast_f32_to_f64", [](auto x) { return cast<double>(x); });
  rows.row_as_is<tensor<double, 3>>("cast_f64_to_f32", [](auto x) { return cast<float>(x); });
  rows.row_as_is<tensor<int, 4>>("cast_i32_to_f32", [](auto x) { return cast<float>(x); });
  rows.row_as_is<tensor<std::int64_t, 3>>("cast_i64_to_i32", [](auto x) { return cast<int>(x); });
  rows.row_as_is<tensor<int, 3>>("cast_i32_to_bool", [](auto x) { return cast<bool>(x); });
  rows.row_as_is<tensor<bool, 3>>("cast_bool_to_f32", [](auto x) { return cast<float>(x); });
  rows.row_as_is<tensor<bool, 3>>("cast_bool_to_i64", [](auto x) { return cast<std::int64_t>(x); });
  rows.row_as_is<tensor<std::uint8_t, 3>>("cast_u8_to_f32", [](auto x) { return cast<float>(x); });
  rows.row_as_is<tensor<float, 10>>("cast_f32_to_f16", [](auto x) { return cast<half>(x); });
  rows.row_as_is<tensor<float, 8>>("cast_f32_to_bf16", [](auto x) { return cast<bfloat16>(x); });
  rows.row_as_is<tensor<half, 4>>("cast_f16_to_f32", [](auto x) { return cast<float>(x); });
  rows.row_as_is<tensor<bfloat16, 3>>("cast_bf16_to_f32", [](auto x) { return cast<float>(x); });
}
