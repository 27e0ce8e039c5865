// Softmax, losses, normalisation and embeddings against the referees and central differences.
#include <doctest/doctest.h>

#include <flowgraph/functions/neural.hpp>
#include <support/op_rows.hpp>

namespace fg = flowgraph;

namespace {

template <int... E>
using f32 = fg::tensor<float, E...>;
template <int... E>
using i32 = fg::tensor<std::int32_t, E...>;
template <int... E>
using i64 = fg::tensor<std::int64_t, E...>;

constexpr fg::dim batch{"batch"};
constexpr fg::dim length{"length"};

constexpr auto cross_entropy = [](auto x, auto y) { return softmax_cross_entropy_with_logits(x, y); };
constexpr auto sigmoid_cross_entropy = [](auto x, auto z) { return sigmoid_cross_entropy_with_logits(x, z); };
constexpr auto biased = [](auto x, auto b) { return bias_add(x, b); };
constexpr auto lookup = [](auto table, auto indices) { return embedding_lookup(table, indices); };

constexpr auto batch_training(double epsilon) {
  return [epsilon](auto x, auto scale, auto offset) {
    const auto [y, mean, variance] = batch_norm(x, scale, offset, epsilon);
    return std::tuple{y, mean, variance};
  };
}
constexpr auto batch_inference(double epsilon) {
  return [epsilon](auto x, auto scale, auto offset, auto mean, auto variance) {
    return batch_norm(x, scale, offset, mean, variance, epsilon);
  };
}

}  // namespace

TEST_CASE("softmax and cross-entropy: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<f32<2, 4>>("softmax_rows", [](auto x) { return softmax(x); });
  rows.row<f32<2, 4>>("log_softmax_rows", [](auto x) { return log_softmax(x); });
  rows.row<f32<3, 2>>("softmax_columns", [](auto x) { return fg::softmax<0>(x); });
  rows.row<f32<3, 2>>("log_softmax_columns", [](auto x) { return fg::log_softmax<0>(x); });
  rows.row<f32<2, 2, 3>>("softmax_cube", [](auto x) { return softmax(x); });
  rows.row<f32<2, 2, 3>>("log_softmax_cube", [](auto x) { return log_softmax(x); });
  rows.row<f32<2, 3, 2>>("softmax_middle", [](auto x) { return fg::softmax<1>(x); });
  rows.row<f32<2, 3, 2>>("log_softmax_middle", [](auto x) { return fg::log_softmax<1>(x); });
  rows.row<f32<5>>("softmax_vector", [](auto x) { return fg::softmax<0>(x); });
  rows.row<f32<5>>("log_softmax_vector", [](auto x) { return fg::log_softmax<0>(x); });
  rows.row<f32<3, 1>>("softmax_size_one", [](auto x) { return softmax(x); });
  rows.row<f32<3, 1>>("log_softmax_size_one", [](auto x) { return log_softmax(x); });
  rows.row<f32<2, 3>>("softmax_large", [](auto x) { return softmax(x); });
  rows.row<f32<2, 3>>("log_softmax_large", [](auto x) { return log_softmax(x); });
  rows.row<f32<3, 4>, f32<3, 4>>("softmax_cross_entropy_dense_rows", cross_entropy);
  rows.row<f32<1, 3>, f32<1, 3>>("softmax_cross_entropy_dense_one_row", cross_entropy);
  rows.row<f32<2, 2, 3>, f32<2, 2, 3>>("softmax_cross_entropy_dense_cube", cross_entropy);
  rows.row<f32<4>, f32<4>>("softmax_cross_entropy_dense_vector", cross_entropy);
  rows.row<f32<3, 4>, i64<3>>("softmax_cross_entropy_sparse_rows", cross_entropy);
  rows.row<f32<2, 3>, i32<2>>("softmax_cross_entropy_sparse_i32_labels", cross_entropy);
  rows.row<f32<2, 2, 3>, i64<2, 2>>("softmax_cross_entropy_sparse_cube", cross_entropy);
  rows.row<f32<2, 1>, i64<2>>("softmax_cross_entropy_sparse_one_class", cross_entropy);
  rows.row<f32<2, 3>, i64<2>>("softmax_cross_entropy_sparse_large", cross_entropy);
  rows.row<f32<2, 3>, f32<2, 3>>("sigmoid_cross_entropy_rows", sigmoid_cross_entropy);
  rows.row<f32<5>, f32<5>>("sigmoid_cross_entropy_vector", sigmoid_cross_entropy);
  rows.row<f32<4>, f32<4>>("sigmoid_cross_entropy_large", sigmoid_cross_entropy);
}

TEST_CASE("normalisation, embedding, losses: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<f32<3, 4>, f32<4>>("bias_add_3x4", biased);
  rows.row<f32<1, 2, 2, 3>, f32<3>>("bias_add_1x2x2x3", biased);
  rows.row<f32<2, 1>, f32<1>>("bias_add_2x1", biased);
  rows.row<f32<4, 3>, f32<3>, f32<3>>("batch_norm_training_matrix", batch_training(0.001));
  rows.row<f32<4, 3>, f32<3>, f32<3>, f32<3>, f32<3>>("batch_norm_inference_matrix", batch_inference(0.001));
  rows.row<f32<2, 2, 2, 2>, f32<2>, f32<2>>("batch_norm_training_image", batch_training(1e-5));
  rows.row<f32<2, 2, 2, 2>, f32<2>, f32<2>, f32<2>, f32<2>>("batch_norm_inference_image", batch_inference(1e-5));
  rows.row<f32<5, 1>, f32<1>, f32<1>>("batch_norm_training_odd", batch_training(0.001));
  rows.row<f32<5, 1>, f32<1>, f32<1>, f32<1>, f32<1>>("batch_norm_inference_odd", batch_inference(0.001));
  rows.row<f32<1, 3, 3, 1>, f32<1>, f32<1>>("batch_norm_training_one_channel_image", batch_training(0.01));
  rows.row<f32<1, 3, 3, 1>, f32<1>, f32<1>, f32<1>, f32<1>>("batch_norm_inference_one_channel_image",
                                                            batch_inference(0.01));
  rows.row<f32<2, 4>, f32<4>, f32<4>>("layer_norm_rows",
                                      [](auto x, auto s, auto o) { return layer_norm(x, s, o, 1e-5); });
  rows.row<f32<2, 2, 3>, f32<3>, f32<3>>("layer_norm_sequence",
                                         [](auto x, auto s, auto o) { return layer_norm(x, s, o, 0.001); });
  rows.row<f32<2, 2, 3>, f32<2, 3>, f32<2, 3>>("layer_norm_two_axes",
                                               [](auto x, auto s, auto o) { return fg::layer_norm<1>(x, s, o, 1e-5); });
  rows.row<f32<7>, f32<7>, f32<7>>("layer_norm_vector",
                                   [](auto x, auto s, auto o) { return layer_norm(x, s, o, 1e-5); });
  rows.row<f32<5, 3>, i64<3>>("embedding_lookup_vector", lookup);
  rows.row<f32<4, 2>, i64<2, 2>>("embedding_lookup_matrix", lookup);
  rows.row<f32<3, 2>, i32<3>>("embedding_lookup_i32", lookup);
  rows.row<f32<6, 2>, i64<1>>("embedding_lookup_one", lookup);
  rows.row<f32<4, 1>, i64<2>>("embedding_lookup_width_one", lookup);
  rows.row<f32<5>>("l2_loss_5", [](auto x) { return l2_loss(x); });
  rows.row<f32<5>, f32<5>>("mse_5", [](auto p, auto t) { return mse(p, t); });
  rows.row<f32<5>, f32<5>>("huber_5_1.0", [](auto p, auto t) { return huber(p, t, 1.0); });
  rows.row<f32<5>, f32<5>>("huber_5_0.5", [](auto p, auto t) { return huber(p, t, 0.5); });
  rows.row<f32<2, 3>>("l2_loss_2x3", [](auto x) { return l2_loss(x); });
  rows.row<f32<2, 3>, f32<2, 3>>("mse_2x3", [](auto p, auto t) { return mse(p, t); });
  rows.row<f32<2, 3>, f32<2, 3>>("huber_2x3_1.0", [](auto p, auto t) { return huber(p, t, 1.0); });
  rows.row<f32<2, 3>, f32<2, 3>>("huber_2x3_0.5", [](auto p, auto t) { return huber(p, t, 0.5); });
  rows.row<f32<2, 3>>("dropout_rate_zero", [](auto x) { return dropout(x, 0.0); });
}

TEST_CASE("named extents: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<fg::tensor<float, batch, 4>>("softmax_rows", [](auto x) { return softmax(x); });
  rows.row<fg::tensor<float, batch, 4>, fg::tensor<std::int64_t, batch>>("softmax_cross_entropy_sparse_rows",
                                                                         cross_entropy);
  rows.row<fg::tensor<float, batch, 4>, fg::tensor<float, batch, 4>>("softmax_cross_entropy_dense_rows", cross_entropy);
  rows.row<fg::tensor<float, batch, 3>, f32<3>, f32<3>>("batch_norm_training_matrix", batch_training(0.001));
  rows.row<f32<4, 2>, fg::tensor<std::int64_t, batch, length>>("embedding_lookup_matrix", lookup);
  rows.row<fg::tensor<float, batch, 3>, fg::tensor<float, batch, 3>>("mse_2x3",
                                                                     [](auto p, auto t) { return mse(p, t); });
}
