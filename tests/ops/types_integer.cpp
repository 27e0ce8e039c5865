// Sums and products of integers wrap around, as the referee's do.
#include <doctest/doctest.h>

#include <flowgraph/functions/einsum.hpp>
#include <flowgraph/functions/gather.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/functions/reduction.hpp>
#include <flowgraph/functions/sort.hpp>
#include <support/op_rows.hpp>
#include <support/type_suffix.hpp>

namespace fg = flowgraph;
using fg::testing::in_type;
using fg::testing::op_rows;

namespace {

template <class T, int... E>
using t = fg::tensor<T, E...>;

}  // namespace

TEST_CASE_TEMPLATE("integers", T, std::int8_t, std::uint8_t, std::int32_t, std::int64_t) {
  const op_rows rows("types");
  rows.row_as_is<t<T, 3, 5>, t<T, 5, 7>>(in_type<T>("matmul_odd"), [](auto a, auto b) { return matmul(a, b); });
  rows.row_as_is<t<T, 2, 3>, t<T, 3, 3, 2>>(in_type<T>("einsum_bilinear"),
                                            [](auto a, auto b) { return fg::einsum<"bi,ijk->bjk">(a, b); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_sum_rows"), [](auto x) { return fg::reduce_sum<1>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_sum_columns"), [](auto x) { return fg::reduce_sum<0>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_prod_rows"), [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_prod_columns"), [](auto x) { return fg::reduce_prod<0>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_max_rows"), [](auto x) { return fg::reduce_max<1>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_max_columns"), [](auto x) { return fg::reduce_max<0>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_min_rows"), [](auto x) { return fg::reduce_min<1>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("reduce_min_columns"), [](auto x) { return fg::reduce_min<0>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("cumsum"), [](auto x) { return fg::cumsum<1>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("sort"), [](auto x) { return fg::sort<1>(x, fg::order::descending); });
  rows.row_as_is<t<std::int64_t, 3, 1>, t<T, 3, 2>>(in_type<T>("scatter_nd_repeated"),
                                                    [](auto i, auto u) { return fg::scatter_nd<5, 2>(i, u); });
}
