// Array ops against the referees: values, gradients, central differences.
#include <doctest/doctest.h>

#include <cstdint>
#include <tuple>

#include <flowgraph/functions/concat.hpp>
#include <flowgraph/functions/fill.hpp>
#include <flowgraph/functions/slice.hpp>
#include <flowgraph/functions/sort.hpp>
#include <flowgraph/language/flow.hpp>
#include "support/derivatives.hpp"
#include "support/op_rows.hpp"

namespace fg = flowgraph;
using fg::by, fg::from, fg::to, fg::tensor;

namespace {

const fg::testing::op_rows rows("array");

}  // namespace

TEST_CASE("making") {
  rows.row("zeros", [](fg::graph& g) { return fg::zeros<float, 2, 3>(g); });
  rows.row("ones_i32", [](fg::graph& g) { return fg::ones<int, 4>(g); });
  rows.row("fill", [](fg::graph& g) { return fg::fill<float, 2, 2>(g, 2.5f); });
  rows.row("fill_i64", [](fg::graph& g) { return fg::fill<std::int64_t, 3>(g, -7); });
  rows.row<tensor<float, 2, 3>>("zeros_like", [](auto x) { return fg::zeros_like(x); });
  rows.row<tensor<float, 3, 1>>("ones_like", [](auto x) { return fg::ones_like(x); });
  rows.row("range_i32", [](fg::graph& g) { return fg::range<int, 2, 11, 3>(g); });
  rows.row("range_i64_down", [](fg::graph& g) { return fg::range<std::int64_t, 5, -4, -2>(g); });
  rows.row("range_f32", [](fg::graph& g) { return fg::range<float, 4>(g, 0.0, 0.25); });
  rows.row("range_f32_uneven", [](fg::graph& g) { return fg::range<float, 4>(g, 0.0, 0.3); });
  rows.row("range_one", [](fg::graph& g) { return fg::range<int, 4, 5, 1>(g); });
  rows.row<tensor<std::int64_t, 3>>("one_hot_plain", [](auto i) { return fg::one_hot<3>(i); });
  rows.row<tensor<int, 2>>("one_hot_wide", [](auto i) { return fg::one_hot<5>(i); });
  rows.row<tensor<std::int64_t, 2>>("one_hot_values", [](auto i) { return fg::one_hot<2>(i, 0.9, 0.1); });
  rows.row<tensor<std::int64_t, 2, 2>>("one_hot_matrix", [](auto i) { return fg::one_hot<3>(i); });
  rows.row<tensor<std::int64_t, 3>>("one_hot_out_of_range_is_off", [](auto i) { return fg::one_hot<3>(i); });
  rows.row<tensor<float, 2, 3>>("shape_2x3", [](auto x) { return fg::shape(x); });
  rows.row<tensor<float, 2, 3>>("rank_2x3", [](auto x) { return fg::rank(x); });
  rows.row<tensor<float, 2, 3>>("size_2x3", [](auto x) { return fg::size(x); });
  rows.row<tensor<float, 5>>("shape_5", [](auto x) { return fg::shape(x); });
  rows.row<tensor<float, 5>>("rank_5", [](auto x) { return fg::rank(x); });
  rows.row<tensor<float, 5>>("size_5", [](auto x) { return fg::size(x); });
  rows.row<tensor<float, 1, 2, 1>>("shape_1x2x1", [](auto x) { return fg::shape(x); });
  rows.row<tensor<float, 1, 2, 1>>("rank_1x2x1", [](auto x) { return fg::rank(x); });
  rows.row<tensor<float, 1, 2, 1>>("size_1x2x1", [](auto x) { return fg::size(x); });
  rows.row<tensor<float>>("shape_scalar", [](auto x) { return fg::shape(x); });
  rows.row<tensor<float>>("rank_scalar", [](auto x) { return fg::rank(x); });
  rows.row<tensor<float>>("size_scalar", [](auto x) { return fg::size(x); });
}

TEST_CASE("reshaping") {
  rows.row<tensor<float, 2, 3>>("identity", [](auto x) { return fg::identity(x); });
  rows.row<tensor<float, 2, 3>>("stop_gradient", [](auto x) { return fg::stop_gradient(x); });
  rows.row<tensor<float, 2, 3>>("reshape_flatten", [](auto x) { return fg::reshape<6>(x); });
  rows.row<tensor<float, 6>>("reshape_split_axis", [](auto x) { return fg::reshape<3, 2>(x); });
  rows.row<tensor<float, 2, 3, 4>>("reshape_merge", [](auto x) { return fg::reshape<2, 12>(x); });
  rows.row<tensor<float, 2, 3>>("reshape_ones_inserted", [](auto x) { return fg::reshape<1, 2, 1, 3>(x); });
  rows.row<tensor<float, 1, 1>>("reshape_to_scalar", [](auto x) { return fg::reshape<>(x); });
  rows.row<tensor<float, 2, 3>>("expand_dims_0", [](auto x) { return fg::expand_dims<0>(x); });
  rows.row<tensor<float, 2, 3>>("expand_dims_1", [](auto x) { return fg::expand_dims<1>(x); });
  rows.row<tensor<float, 2, 3>>("expand_dims_2", [](auto x) { return fg::expand_dims<2>(x); });
  rows.row<tensor<float, 2, 3>>("expand_dims_-1", [](auto x) { return fg::expand_dims<-1>(x); });
  rows.row<tensor<float, 2, 1, 3>>("squeeze_one", [](auto x) { return fg::squeeze<1>(x); });
  rows.row<tensor<float, 1, 4, 1>>("squeeze_two", [](auto x) { return fg::squeeze<0, 2>(x); });
  rows.row<tensor<float, 3, 1>>("squeeze_negative", [](auto x) { return fg::squeeze<-1>(x); });
  rows.row<tensor<float, 1>>("squeeze_to_scalar", [](auto x) { return fg::squeeze<0>(x); });
  rows.row<tensor<float, 3>>("broadcast_to_row", [](auto x) { return fg::broadcast_to<2, 3>(x); });
  rows.row<tensor<float, 2, 1>>("broadcast_to_column", [](auto x) { return fg::broadcast_to<2, 3>(x); });
  rows.row<tensor<float>>("broadcast_to_scalar", [](auto x) { return fg::broadcast_to<2, 2>(x); });
  rows.row<tensor<float, 2, 1, 2>>("broadcast_to_middle", [](auto x) { return fg::broadcast_to<2, 3, 2>(x); });
  rows.row<tensor<float, 1, 2>>("broadcast_to_new_axes", [](auto x) { return fg::broadcast_to<2, 3, 2>(x); });
  rows.row<tensor<float, 2, 2>>("broadcast_to_same", [](auto x) { return fg::broadcast_to<2, 2>(x); });
}

TEST_CASE("joining and taking apart") {
  rows.row<tensor<float, 3>, tensor<float, 1>, tensor<float, 2>>("concat_vectors",
                                                                 [](auto... x) { return fg::concat<0>(x...); });
  rows.row<tensor<float, 1, 3>, tensor<float, 2, 3>>("concat_rows", [](auto... x) { return fg::concat<0>(x...); });
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 1>, tensor<float, 2, 2>>(
      "concat_columns", [](auto... x) { return fg::concat<1>(x...); });
  rows.row<tensor<float, 1, 2, 3>, tensor<float, 1, 2, 2>>("concat_inner",
                                                           [](auto... x) { return fg::concat<2>(x...); });
  rows.row<tensor<float, 2, 2>, tensor<float, 2, 3>>("concat_negative", [](auto... x) { return fg::concat<-1>(x...); });
  rows.row<tensor<float, 4>>("concat_single", [](auto... x) { return fg::concat<0>(x...); });
  rows.row<tensor<int, 2>, tensor<int, 3>>("concat_i32", [](auto... x) { return fg::concat<0>(x...); });
  rows.row<tensor<float, 4, 3>>("split_rows", [](auto x) { return fg::split<0, 2>(x); });
  rows.row<tensor<float, 2, 6>>("split_columns", [](auto x) { return fg::split<1, 3>(x); });
  rows.row<tensor<float, 6>>("split_last_of_three", [](auto x) { return fg::split<0, 3>(x); });
  rows.row<tensor<float, 2, 4>>("split_negative", [](auto x) { return fg::split<-1, 2>(x); });
  rows.row<tensor<float, 2, 6>>("split_sizes", [](auto x) { return fg::split_sizes<1, 1, 3, 2>(x); });
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("stack_0", [](auto... x) { return fg::stack<0>(x...); });
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("stack_1", [](auto... x) { return fg::stack<1>(x...); });
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("stack_-1", [](auto... x) { return fg::stack<-1>(x...); });
  rows.row<tensor<float>, tensor<float>, tensor<float>>("stack_scalars", [](auto... x) { return fg::stack<0>(x...); });
  rows.row<tensor<float, 2, 3>>("unstack_0", [](auto x) { return fg::unstack<0>(x); });
  rows.row<tensor<float, 2, 3>>("unstack_1", [](auto x) { return fg::unstack<1>(x); });
}

TEST_CASE("cutting and setting in") {
  rows.row<tensor<float, 7>>("slice_vector", [](auto x) { return fg::slice<from<2>, 3>(x); });
  rows.row<tensor<float, 3, 4>>("slice_matrix", [](auto x) { return fg::slice<from<1, 0>, 2, 3>(x); });
  rows.row<tensor<float, 2, 3, 4>>("slice_cube", [](auto x) { return fg::slice<from<0, 1, 2>, 2, 1, 2>(x); });
  rows.row<tensor<float, 2, 2>>("slice_whole", [](auto x) { return fg::slice<from<0, 0>, 2, 2>(x); });
  rows.row<tensor<float, 3, 3>>("slice_one_element", [](auto x) { return fg::slice<from<2, 1>, 1, 1>(x); });
  rows.row<tensor<float, 7>>("strided_slice_every_second",
                             [](auto x) { return fg::strided_slice<from<0>, to<7>, by<2>>(x); });
  rows.row<tensor<float, 7>>("strided_slice_offset",
                             [](auto x) { return fg::strided_slice<from<1>, to<6>, by<3>>(x); });
  rows.row<tensor<float, 5>>("strided_slice_backward",
                             [](auto x) { return fg::strided_slice<from<4>, to<-6>, by<-1>>(x); });
  rows.row<tensor<float, 6>>("strided_slice_backward_by_two",
                             [](auto x) { return fg::strided_slice<from<-1>, to<0>, by<-2>>(x); });
  rows.row<tensor<float, 6>>("strided_slice_negative_indices",
                             [](auto x) { return fg::strided_slice<from<-5>, to<-1>, by<1>>(x); });
  rows.row<tensor<float, 4, 5>>("strided_slice_matrix",
                                [](auto x) { return fg::strided_slice<from<1, 0>, to<4, 5>, by<2, 2>>(x); });
  rows.row<tensor<float, 3, 5>>("strided_slice_mixed",
                                [](auto x) { return fg::strided_slice<from<2, 1>, to<-4, 5>, by<-1, 3>>(x); });
  rows.row<tensor<float, 4>>("strided_slice_beyond_the_end",
                             [](auto x) { return fg::strided_slice<from<1>, to<99>, by<2>>(x); });
  rows.row<tensor<float, 3>>("pad_vector", [](auto x) { return fg::pad<1, 2>(x); });
  rows.row<tensor<float, 2, 3>>("pad_matrix", [](auto x) { return fg::pad<0, 1, 2, 0>(x); });
  rows.row<tensor<float, 2, 2>>("pad_value", [](auto x) { return fg::pad<1, 1, 1, 1>(x, -1.5); });
  rows.row<tensor<float, 2, 2>>("pad_nothing", [](auto x) { return fg::pad<0, 0, 0, 0>(x); });
  rows.row<tensor<float, 1, 2, 2, 2>>("pad_image", [](auto x) { return fg::pad<0, 0, 1, 0, 0, 1, 0, 0>(x); });
  rows.row<tensor<float, 3>>("tile_vector", [](auto x) { return fg::tile<3>(x); });
  rows.row<tensor<float, 2, 3>>("tile_matrix", [](auto x) { return fg::tile<2, 2>(x); });
  rows.row<tensor<float, 2, 3>>("tile_one_axis", [](auto x) { return fg::tile<1, 2>(x); });
  rows.row<tensor<float, 3, 1>>("tile_column", [](auto x) { return fg::tile<1, 4>(x); });
  rows.row<tensor<float, 1, 2, 2>>("tile_cube", [](auto x) { return fg::tile<2, 1, 2>(x); });
  rows.row<tensor<float, 5>>("reverse_vector", [](auto x) { return fg::reverse<0>(x); });
  rows.row<tensor<float, 2, 3>>("reverse_columns", [](auto x) { return fg::reverse<1>(x); });
  rows.row<tensor<float, 2, 3>>("reverse_both", [](auto x) { return fg::reverse<0, 1>(x); });
  rows.row<tensor<float, 2, 2, 2>>("reverse_negative", [](auto x) { return fg::reverse<-1>(x); });
}

TEST_CASE("picking") {
  rows.row<tensor<float, 5>, tensor<std::int64_t, 4>>("gather_vector",
                                                      [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<tensor<float, 4, 3>, tensor<int, 3>>("gather_rows", [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<tensor<float, 2, 4>, tensor<std::int64_t, 3>>("gather_columns",
                                                         [](auto x, auto i) { return fg::gather<1>(x, i); });
  rows.row<tensor<float, 4, 2>, tensor<std::int64_t, 2, 2>>("gather_matrix_of_indices",
                                                            [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<tensor<float, 2, 3>, tensor<int, 2>>("gather_negative_axis",
                                                [](auto x, auto i) { return fg::gather<-1>(x, i); });
  rows.row<tensor<float, 3, 2>, tensor<std::int64_t, 1>>("gather_one",
                                                         [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<tensor<float, 3, 2>, tensor<std::int64_t>>("gather_scalar_index",
                                                      [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<tensor<float, 2, 3, 2>, tensor<std::int64_t, 2, 1>>("gather_middle",
                                                               [](auto x, auto i) { return fg::gather<1>(x, i); });
  rows.row<tensor<int, 5>, tensor<std::int64_t, 2>>("gather_of_i32",
                                                    [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<tensor<float, 3, 4>, tensor<std::int64_t, 3, 2>>("gather_nd_elements",
                                                            [](auto x, auto i) { return gather_nd(x, i); });
  rows.row<tensor<float, 3, 2>, tensor<std::int64_t, 2, 1>>("gather_nd_rows",
                                                            [](auto x, auto i) { return gather_nd(x, i); });
  rows.row<tensor<float, 2, 2, 3>, tensor<std::int64_t, 2, 2>>("gather_nd_of_cube",
                                                               [](auto x, auto i) { return gather_nd(x, i); });
  rows.row<tensor<float, 3, 3>, tensor<std::int64_t, 2, 1, 2>>("gather_nd_batch_of_indices",
                                                               [](auto x, auto i) { return gather_nd(x, i); });
  rows.row<tensor<std::int64_t, 3, 1>, tensor<float, 3>>("scatter_nd_vector",
                                                         [](auto i, auto x) { return fg::scatter_nd<6>(i, x); });
  rows.row<tensor<std::int64_t, 2, 1>, tensor<float, 2, 2>>("scatter_nd_rows",
                                                            [](auto i, auto x) { return fg::scatter_nd<4, 2>(i, x); });
  rows.row<tensor<std::int64_t, 3, 2>, tensor<float, 3>>("scatter_nd_elements",
                                                         [](auto i, auto x) { return fg::scatter_nd<2, 3>(i, x); });
  rows.row<tensor<std::int64_t, 2, 2>, tensor<float, 2, 2>>(
      "scatter_nd_cube", [](auto i, auto x) { return fg::scatter_nd<2, 2, 2>(i, x); });
  rows.row<tensor<bool, 2, 3>, tensor<float, 2, 3>, tensor<float, 2, 3>>(
      "where_same", [](auto c, auto a, auto b) { return where(c, a, b); });
  rows.row<tensor<bool, 3>, tensor<float, 2, 3>, tensor<float, 1>>(
      "where_row_condition", [](auto c, auto a, auto b) { return where(c, a, b); });
}

TEST_CASE("ordering") {
  rows.row<tensor<float, 7>>("sort_vector", [](auto x) { return fg::sort<0>(x); });
  rows.row<tensor<float, 7>>("sort_vector_descending", [](auto x) { return fg::sort<0>(x, fg::descending); });
  rows.row<tensor<float, 2, 5>>("sort_rows", [](auto x) { return fg::sort<1>(x); });
  rows.row<tensor<float, 4, 2>>("sort_columns", [](auto x) { return fg::sort<0>(x); });
  rows.row<tensor<float, 2, 2, 3>>("sort_last_descending", [](auto x) { return fg::sort<-1>(x, fg::descending); });
  rows.row<tensor<float, 1>>("sort_size_one", [](auto x) { return fg::sort<0>(x); });
  rows.row<tensor<int, 5>>("sort_ties_i32", [](auto x) { return fg::sort<0>(x); });
  rows.row<tensor<float, 6>>("top_k_vector", [](auto x) { return fg::top_k<3>(x); });
  rows.row<tensor<float, 3, 5>>("top_k_rows", [](auto x) { return fg::top_k<2>(x); });
  rows.row<tensor<float, 2, 4>>("top_k_one", [](auto x) { return fg::top_k<1>(x); });
  rows.row<tensor<float, 4>>("top_k_all", [](auto x) { return fg::top_k<4>(x); });
  rows.row<tensor<float, 2, 2, 3>>("top_k_cube", [](auto x) { return fg::top_k<2>(x); });
  rows.row<tensor<float, 5>>("top_k_ties", [](auto x) { return fg::top_k<3>(x); });
  rows.row<tensor<float, 7>>("argmax_vector", [](auto x) { return fg::argmax<0>(x); });
  rows.row<tensor<float, 3, 4>>("argmax_rows", [](auto x) { return fg::argmax<1>(x); });
  rows.row<tensor<float, 3, 4>>("argmax_columns", [](auto x) { return fg::argmax<0>(x); });
  rows.row<tensor<float, 2, 2, 3>>("argmax_negative", [](auto x) { return fg::argmax<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("argmax_middle", [](auto x) { return fg::argmax<1>(x); });
  rows.row<tensor<float, 3, 1>>("argmax_size_one", [](auto x) { return fg::argmax<1>(x); });
  rows.row<tensor<float, 2, 3>>("argmax_first_of_equals", [](auto x) { return fg::argmax<1>(x); });
  rows.row<tensor<int, 5>>("argmax_i32", [](auto x) { return fg::argmax<0>(x); });
  rows.row<tensor<float, 7>>("argmin_vector", [](auto x) { return fg::argmin<0>(x); });
  rows.row<tensor<float, 3, 4>>("argmin_rows", [](auto x) { return fg::argmin<1>(x); });
  rows.row<tensor<float, 3, 4>>("argmin_columns", [](auto x) { return fg::argmin<0>(x); });
  rows.row<tensor<float, 2, 2, 3>>("argmin_negative", [](auto x) { return fg::argmin<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("argmin_middle", [](auto x) { return fg::argmin<1>(x); });
  rows.row<tensor<float, 3, 1>>("argmin_size_one", [](auto x) { return fg::argmin<1>(x); });
  rows.row<tensor<float, 2, 3>>("argmin_first_of_equals", [](auto x) { return fg::argmin<1>(x); });
  rows.row<tensor<int, 5>>("argmin_i32", [](auto x) { return fg::argmin<0>(x); });
  rows.row<tensor<float, 5>>("cumsum_vector", [](auto x) { return fg::cumsum<0>(x); });
  rows.row<tensor<float, 2, 3>>("cumsum_rows", [](auto x) { return fg::cumsum<1>(x); });
  rows.row<tensor<float, 5>>("cumsum_vector_reverse", [](auto x) { return fg::cumsum<0>(x, {.reverse = true}); });
  rows.row<tensor<float, 2, 3>>("cumsum_rows_reverse", [](auto x) { return fg::cumsum<1>(x, {.reverse = true}); });
  rows.row<tensor<float, 5>>("cumsum_vector_exclusive", [](auto x) { return fg::cumsum<0>(x, {.exclusive = true}); });
  rows.row<tensor<float, 2, 3>>("cumsum_rows_exclusive", [](auto x) { return fg::cumsum<1>(x, {.exclusive = true}); });
  rows.row<tensor<float, 5>>("cumsum_vector_exclusive_reverse",
                             [](auto x) { return fg::cumsum<0>(x, {.exclusive = true, .reverse = true}); });
  rows.row<tensor<float, 2, 3>>("cumsum_rows_exclusive_reverse",
                                [](auto x) { return fg::cumsum<1>(x, {.exclusive = true, .reverse = true}); });
  rows.row<tensor<float, 3, 2>>("cumsum_columns", [](auto x) { return fg::cumsum<0>(x); });
  rows.row<tensor<float, 2, 2, 3>>("cumsum_negative", [](auto x) { return fg::cumsum<-1>(x); });
  rows.row<tensor<float, 2, 3, 2>>("cumsum_middle", [](auto x) { return fg::cumsum<1>(x); });
  rows.row<tensor<int, 4>>("cumsum_i32", [](auto x) { return fg::cumsum<0>(x); });
}

TEST_CASE("second derivatives pass through an op and through its gradient") {
  using fg::testing::check_second_order, fg::edge;
  using matrix = tensor<double, 2, 4>;
  // Positions that depend on x, and differ from row to row.
  const auto at_rows = [](auto x) { return fg::argmax<0>(x); };  // [4] below 2
  const auto at_columns = [](auto x) {
    return fg::reshape<4>(fg::slice<from<0, 0>, 1, 4>(argsort(x)));
  };  // [4] below 4
  check_second_order<matrix>([](auto x) { return fg::reshape<4, 2>(square(x)); });
  check_second_order<matrix>([](auto x) { return fg::broadcast_to<3, 2, 4>(square(x)); });
  check_second_order<matrix>([](auto x) { return fg::concat<1>(square(x), x, square(x)); });
  check_second_order<matrix>([](auto x) { return fg::split<1, 2>(square(x))[1] * fg::split<1, 2>(x)[0]; });
  check_second_order<matrix>([](auto x) { return fg::unstack<1>(square(x))[2]; });
  check_second_order<matrix>([](auto x) { return fg::slice<from<1, 1>, 1, 2>(square(x)); });
  check_second_order<matrix>(
      [](auto x) { return fg::strided_slice<from<edge, 3>, to<edge, 0>, by<-1, -2>>(square(x)); });
  check_second_order<matrix>([](auto x) { return fg::pad<1, 0, 0, 2>(square(x), 0.5); });
  check_second_order<matrix>([](auto x) { return fg::tile<3, 2>(square(x)); });
  check_second_order<matrix>([](auto x) { return fg::reverse<0, 1>(square(x)); });
  check_second_order<matrix>([&](auto x) { return fg::gather<0>(square(x), at_rows(x)); });
  check_second_order<matrix>([&](auto x) { return fg::gather<1>(square(x), at_columns(x)); });
  check_second_order<matrix>([&](auto x) { return gather_nd(square(x), fg::stack<1>(at_rows(x), at_columns(x))); });
  check_second_order<matrix>(
      [&](auto x) { return fg::scatter_nd<2, 4>(fg::expand_dims<1>(at_rows(x)), fg::tile<2, 1>(square(x))); });
  check_second_order<matrix>([](auto x) { return fg::sort<0>(square(x)); });
  check_second_order<matrix>([](auto x) { return std::get<0>(fg::top_k<3>(square(x))); });
  check_second_order<matrix>([](auto x) { return fg::cumsum<1>(square(x), {.exclusive = true, .reverse = true}); });
}
