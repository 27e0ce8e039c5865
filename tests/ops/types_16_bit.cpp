// half and bfloat16 in every kernel that computes, against the referees: the exact result, rounded once. Kernels of one
// op are held to that; functions made of several ops and gradients have the tolerance of the type.
#include <doctest/doctest.h>

#include <flowgraph/functions/einsum.hpp>
#include <flowgraph/functions/embedding.hpp>
#include <flowgraph/functions/gather.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/functions/sort.hpp>
#include <support/op_rows.hpp>
#include <support/type_suffix.hpp>

namespace fg = flowgraph;
using fg::testing::in_type;
using fg::testing::op_rows;

namespace {

// Half a unit in the last place, and what float adds to it.
template <class T>
constexpr double once = std::is_same_v<T, fg::half> ? 5.2e-4 : 4.2e-3;

template <class T, int... E>
using t = fg::tensor<T, E...>;

constexpr fg::conv same_size{.padding = fg::same};
constexpr fg::conv halving{.stride = {2, 2}, .padding = fg::same};
constexpr fg::conv by_channel{.padding = fg::same, .groups = 2};
constexpr fg::pool quarters{.window = {2, 2}, .stride = {2, 2}, .padding = fg::same};

}  // namespace

TEST_CASE_TEMPLATE("16 bits: products and reductions", T, fg::half, fg::bfloat16) {
  const op_rows rows("types");
  rows.row_as_is<t<T, 3, 5>, t<T, 5, 7>>(
      in_type<T>("matmul_odd"), [](auto a, auto b) { return matmul(a, b); }, once<T>);
  rows.row_as_is<t<T, 2, 65>, t<T, 65, 1>>(
      in_type<T>("matmul_long"), [](auto a, auto b) { return matmul(a, b); }, once<T>);
  rows.row_as_is<t<T, 2, 3, 5>, t<T, 2, 2, 5>>(
      in_type<T>("matmul_transposed_b"), [](auto a, auto b) { return fg::matmul<fg::transpose_b>(a, b); }, once<T>);
  rows.row_as_is<t<T, 2, 3>, t<T, 3, 3, 2>>(
      in_type<T>("einsum_bilinear"), [](auto a, auto b) { return fg::einsum<"bi,ijk->bjk">(a, b); }, once<T>);
  rows.row_as_is<t<T, 3>, t<T, 3>, t<T, 3>>(
      in_type<T>("einsum_three"), [](auto a, auto b, auto c) { return fg::einsum<"i,i,i->i">(a, b, c); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_sum_rows"), [](auto x) { return fg::reduce_sum<1>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_sum_columns"), [](auto x) { return fg::reduce_sum<0>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_sum_all"), [](auto x) { return fg::reduce_sum(x); }, once<T>);
  rows.row_as_is<t<T, 131>>(
      in_type<T>("reduce_sum_long"), [](auto x) { return fg::reduce_sum(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_mean_rows"), [](auto x) { return fg::reduce_mean<1>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_mean_columns"), [](auto x) { return fg::reduce_mean<0>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_mean_all"), [](auto x) { return fg::reduce_mean(x); }, once<T>);
  // The sum of these has no place in a half.
  rows.row_as_is<t<T, 9>>(
      in_type<T>("reduce_mean_large"), [](auto x) { return fg::reduce_mean(x); }, once<T>);
  rows.row_as_is<t<T, 2, 3>>(
      in_type<T>("reduce_prod"), [](auto x) { return fg::reduce_prod<1>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_max"), [](auto x) { return fg::reduce_max<1>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("reduce_min"), [](auto x) { return fg::reduce_min<1>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("reduce_logsumexp"), [](auto x) { return fg::logsumexp<1>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("norm"), [](auto x) { return fg::norm<0>(x); });
}

TEST_CASE_TEMPLATE("16 bits: neural ops", T, fg::half, fg::bfloat16) {
  const op_rows rows("types");
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("softmax_rows"), [](auto x) { return fg::softmax<1>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("softmax_columns"), [](auto x) { return fg::softmax<0>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("log_softmax_rows"), [](auto x) { return fg::log_softmax<1>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("log_softmax_columns"), [](auto x) { return fg::log_softmax<0>(x); });
  rows.row_as_is<t<T, 3, 5>, t<std::int64_t, 3>>(
      in_type<T>("sparse_cross_entropy"), [](auto x, auto l) { return softmax_cross_entropy_with_logits(x, l); });
  rows.row_as_is<t<T, 1, 3, 4, 2>, t<T, 3, 3, 2, 3>>(
      in_type<T>("conv2d_3x3"), [](auto x, auto w) { return fg::conv2d<same_size>(x, w); }, once<T>);
  rows.row_as_is<t<T, 1, 3, 4, 2>, t<T, 2, 2, 2, 1>>(
      in_type<T>("conv2d_strided"), [](auto x, auto w) { return fg::conv2d<halving>(x, w); }, once<T>);
  rows.row_as_is<t<T, 1, 3, 4, 2>, t<T, 2, 2, 1, 2>>(
      in_type<T>("conv2d_depthwise"), [](auto x, auto w) { return fg::conv2d<by_channel>(x, w); }, once<T>);
  rows.row_as_is<t<T, 1, 2, 2, 2>, t<T, 3, 3, 1, 2>>(
      in_type<T>("conv2d_transpose"), [](auto x, auto w) { return fg::conv2d_transpose<halving, 4, 4>(x, w); },
      once<T>);
  rows.row_as_is<t<T, 1, 3, 3, 2>>(
      in_type<T>("max_pool"), [](auto x) { return fg::max_pool<quarters>(x); }, once<T>);
  rows.row_as_is<t<T, 1, 3, 3, 2>>(
      in_type<T>("avg_pool"), [](auto x) { return fg::avg_pool<quarters>(x); }, once<T>);
  rows.row_as_is<t<T, 2, 3, 3, 2>, t<T, 2>, t<T, 2>>(in_type<T>("batch_norm"), [](auto x, auto scale, auto offset) {
    const auto [y, mean, variance] = batch_norm(x, scale, offset, 1e-3);
    return std::tuple(y, mean, variance);
  });
  rows.row_as_is<t<T, 3, 5>, t<T, 5>, t<T, 5>>(
      in_type<T>("layer_norm"), [](auto x, auto scale, auto offset) { return layer_norm(x, scale, offset, 1e-5); });
  rows.row_as_is<t<T, 2, 5>>(in_type<T>("local_response_normalization"),
                             [](auto x) { return local_response_normalization(x, 1, 1.0, 0.5, 0.75); });
  rows.row_as_is<t<T, 3, 5>, t<T, 5>>(
      in_type<T>("bias_add"), [](auto x, auto b) { return bias_add(x, b); }, once<T>);
}

TEST_CASE_TEMPLATE("16 bits: positions and order", T, fg::half, fg::bfloat16) {
  const op_rows rows("types");
  rows.row_as_is<t<T, 5, 3>, t<std::int32_t, 4>>(
      in_type<T>("embedding_lookup"), [](auto x, auto i) { return embedding_lookup(x, i); }, once<T>);
  rows.row_as_is<t<T, 5, 3>, t<std::int64_t, 4>>(
      in_type<T>("gather_repeated"), [](auto x, auto i) { return fg::gather<0>(x, i); }, once<T>);
  rows.row_as_is<t<std::int64_t, 4, 1>, t<T, 4, 3>>(
      in_type<T>("scatter_nd_repeated"), [](auto i, auto u) { return fg::scatter_nd<5, 3>(i, u); }, once<T>);
  rows.row_as_is<t<T, 3, 7>>(
      in_type<T>("cumsum"), [](auto x) { return fg::cumsum<1>(x); }, once<T>);
  rows.row_as_is<t<T, 3, 5>>(
      in_type<T>("sort"), [](auto x) { return fg::sort<1>(x); }, once<T>);
}
