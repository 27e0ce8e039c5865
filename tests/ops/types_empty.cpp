// Extents of zero, against the referees: sums of nothing, results without elements, and their gradients.
#include <doctest/doctest.h>

#include <flowgraph/functions/concat.hpp>
#include <flowgraph/functions/einsum.hpp>
#include <flowgraph/functions/embedding.hpp>
#include <flowgraph/functions/gather.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/functions/reshape.hpp>
#include <flowgraph/functions/slice.hpp>
#include <flowgraph/functions/sort.hpp>
#include <support/op_rows.hpp>

namespace fg = flowgraph;

namespace {

template <int... E>
using f32 = fg::tensor<float, E...>;

constexpr fg::conv same_size{.padding = fg::same};

}  // namespace

TEST_CASE("empty operands of products and reductions") {
  const fg::testing::op_rows rows("types");
  const auto product = [](auto a, auto b) { return matmul(a, b); };
  rows.row<f32<0, 3>, f32<3, 2>>("empty_matmul_rows", product);
  rows.row<f32<2, 0>, f32<0, 3>>("empty_matmul_inner", product);
  rows.row<f32<0, 2, 3>, f32<3, 2>>("empty_matmul_batch", product);
  rows.row<f32<2, 0>, f32<0, 3>>("empty_einsum_inner", [](auto a, auto b) { return fg::einsum<"ij,jk->ik">(a, b); });
  rows.row<f32<3, 0>>("empty_reduce_sum_inner", [](auto x) { return fg::reduce_sum<1>(x); });
  rows.row<f32<0, 3>>("empty_reduce_sum_outer", [](auto x) { return fg::reduce_sum<0>(x); });
  rows.row<f32<0, 3>>("empty_reduce_sum_kept", [](auto x) { return fg::reduce_sum<1>(x); });
  rows.row<f32<3, 0>>("empty_reduce_prod_inner", [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row<f32<0, 3>>("empty_reduce_prod_outer", [](auto x) { return fg::reduce_prod<0>(x); });
  rows.row<f32<0, 3>>("empty_reduce_prod_kept", [](auto x) { return fg::reduce_prod<1>(x); });
  rows.row<f32<0, 3>>("empty_reduce_max_kept", [](auto x) { return fg::reduce_max<1>(x); });
}

TEST_CASE("empty operands of neural ops") {
  const fg::testing::op_rows rows("types");
  rows.row<f32<0, 4>>("empty_softmax", [](auto x) { return fg::softmax<1>(x); });
  rows.row<f32<3, 0>>("empty_log_softmax_columns", [](auto x) { return fg::log_softmax<0>(x); });
  rows.row<f32<0, 4>, fg::tensor<std::int64_t, 0>>(
      "empty_sparse_cross_entropy", [](auto x, auto l) { return softmax_cross_entropy_with_logits(x, l); });
  rows.row<f32<0, 3, 3, 2>, f32<2, 2, 2, 3>>("empty_conv2d",
                                             [](auto x, auto w) { return fg::conv2d<same_size>(x, w); });
  rows.row<f32<0, 4, 4, 2>>("empty_max_pool", [](auto x) { return max_pool(x); });
  rows.row<f32<0, 4, 4, 2>>("empty_avg_pool", [](auto x) { return avg_pool(x); });
  rows.row<f32<0, 4>, f32<4>, f32<4>>("empty_layer_norm",
                                      [](auto x, auto s, auto o) { return layer_norm(x, s, o, 1e-5); });
}

TEST_CASE("empty operands of array ops") {
  const fg::testing::op_rows rows("types");
  rows.row<f32<0, 3>, f32<3>>("empty_add_broadcast", [](auto a, auto b) { return a + b; });
  rows.row<f32<0, 3>, f32<2, 3>>("empty_concat", [](auto a, auto b) { return fg::concat<0>(a, b); });
  rows.row<f32<3, 4>>("empty_slice", [](auto x) { return fg::slice<fg::from<1, 0>, 0, 4>(x); });
  rows.row<f32<0, 2>>("empty_pad", [](auto x) { return fg::pad<1, 1, 0, 0>(x, 2); });
  rows.row<f32<2, 0, 3>>("empty_transpose", [](auto x) { return fg::transpose<2, 1, 0>(x); });
  rows.row<f32<1, 3>>("empty_broadcast_to", [](auto x) { return fg::broadcast_to<0, 3>(x); });
  rows.row<f32<4, 3>, fg::tensor<std::int64_t, 0>>("empty_gather", [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row<f32<4, 3>, fg::tensor<std::int32_t, 0>>("empty_embedding_lookup",
                                                   [](auto x, auto i) { return embedding_lookup(x, i); });
  rows.row<f32<2, 0>>("empty_cumsum", [](auto x) { return fg::cumsum<1>(x); });
  rows.row<f32<0, 3>>("empty_sort", [](auto x) { return fg::sort<1>(x); });
}
