// Updates of variables against the referee.
#include <doctest/doctest.h>

#include <cstdint>

#include <flowgraph/language/state.hpp>
#include "support/op_rows.hpp"

namespace fg = flowgraph;
using fg::tensor;

namespace {

const fg::testing::op_rows rows("state");

}  // namespace

TEST_CASE("assignments") {
  const auto assign = [](auto v, auto x) { return fg::assign(v, x); };
  rows.state_row<tensor<float, 2, 3>, tensor<float, 2, 3>>("assign", assign);
  rows.state_row<tensor<std::int64_t>, tensor<std::int64_t>>("assign_i64_scalar", assign);
  const auto assign_add = [](auto v, auto x) { return fg::assign_add(v, x); };
  rows.state_row<tensor<float, 2, 3>, tensor<float, 2, 3>>("assign_add", assign_add);
  rows.state_row<tensor<std::int64_t>, tensor<std::int64_t>>("assign_add_i64_scalar", assign_add);
  const auto assign_sub = [](auto v, auto x) { return fg::assign_sub(v, x); };
  rows.state_row<tensor<float, 2, 3>, tensor<float, 2, 3>>("assign_sub", assign_sub);
  rows.state_row<tensor<std::int64_t>, tensor<std::int64_t>>("assign_sub_i64_scalar", assign_sub);
}

TEST_CASE("updates of rows") {
  const auto scatter_add = [](auto v, auto i, auto x) { return fg::scatter_add(v, i, x); };
  rows.state_row<tensor<float, 4, 2>, tensor<std::int64_t, 2>, tensor<float, 2, 2>>("scatter_add_rows", scatter_add);
  rows.state_row<tensor<float, 5>, tensor<std::int64_t, 3>, tensor<float, 3>>("scatter_add_elements", scatter_add);
  rows.state_row<tensor<float, 2, 3>, tensor<std::int64_t, 2>, tensor<float, 2, 3>>("scatter_add_all_rows",
                                                                                    scatter_add);
  rows.state_row<tensor<float, 3, 1>, tensor<std::int64_t, 1>, tensor<float, 1, 1>>("scatter_add_one", scatter_add);
  rows.state_row<tensor<float, 3, 2>, tensor<std::int64_t, 3>, tensor<float, 3, 2>>("scatter_add_repeated_rows",
                                                                                    scatter_add);
  rows.state_row<tensor<float, 4>, tensor<std::int64_t, 3>, tensor<float, 3>>("scatter_add_repeated_elements",
                                                                              scatter_add);
  const auto scatter_sub = [](auto v, auto i, auto x) { return fg::scatter_sub(v, i, x); };
  rows.state_row<tensor<float, 4, 2>, tensor<std::int64_t, 2>, tensor<float, 2, 2>>("scatter_sub_rows", scatter_sub);
  rows.state_row<tensor<float, 5>, tensor<std::int64_t, 3>, tensor<float, 3>>("scatter_sub_elements", scatter_sub);
  rows.state_row<tensor<float, 2, 3>, tensor<std::int64_t, 2>, tensor<float, 2, 3>>("scatter_sub_all_rows",
                                                                                    scatter_sub);
  rows.state_row<tensor<float, 3, 1>, tensor<std::int64_t, 1>, tensor<float, 1, 1>>("scatter_sub_one", scatter_sub);
  rows.state_row<tensor<float, 3, 2>, tensor<std::int64_t, 3>, tensor<float, 3, 2>>("scatter_sub_repeated_rows",
                                                                                    scatter_sub);
  rows.state_row<tensor<float, 4>, tensor<std::int64_t, 3>, tensor<float, 3>>("scatter_sub_repeated_elements",
                                                                              scatter_sub);
  const auto scatter_update = [](auto v, auto i, auto x) { return fg::scatter_update(v, i, x); };
  rows.state_row<tensor<float, 4, 2>, tensor<std::int64_t, 2>, tensor<float, 2, 2>>("scatter_update_rows",
                                                                                    scatter_update);
  rows.state_row<tensor<float, 5>, tensor<std::int64_t, 3>, tensor<float, 3>>("scatter_update_elements",
                                                                              scatter_update);
  rows.state_row<tensor<float, 2, 3>, tensor<std::int64_t, 2>, tensor<float, 2, 3>>("scatter_update_all_rows",
                                                                                    scatter_update);
  rows.state_row<tensor<float, 3, 1>, tensor<std::int64_t, 1>, tensor<float, 1, 1>>("scatter_update_one",
                                                                                    scatter_update);
}
