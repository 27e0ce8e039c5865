// Images with their channels first, against the referees and central differences.
#include <doctest/doctest.h>

#include <flowgraph/functions/neural.hpp>
#include <support/op_rows.hpp>

namespace fg = flowgraph;

namespace {

template <int... E>
using f32 = fg::tensor<float, E...>;

constexpr fg::conv same_size{.padding = fg::same, .layout = fg::nchw};
constexpr fg::conv no_padding{.layout = fg::nchw};
constexpr fg::conv tall_steps{.stride = {2, 1}, .layout = fg::nchw};
constexpr fg::conv halving{.stride = {2, 2}, .padding = fg::same, .layout = fg::nchw};
constexpr fg::conv skipping{.stride = {2, 2}, .layout = fg::nchw};
constexpr fg::conv spread{.dilation = {2, 1}, .padding = fg::padded(1, 0, 0, 1), .layout = fg::nchw};
constexpr fg::conv in_pairs{.padding = fg::same, .groups = 2, .layout = fg::nchw};
constexpr fg::pool quarters{.window = {2, 2}, .stride = {2, 2}, .layout = fg::nchw};
constexpr fg::pool overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same, .layout = fg::nchw};
constexpr fg::pool wide{.window = {1, 3}, .stride = {1, 2}, .layout = fg::nchw};

constexpr fg::dim batch{"batch"};
constexpr fg::dim width{"width"};

// Shape rules: named extents keep their names.
constexpr bool shapes() {
  fg::graph g;
  const auto x = g.placeholder<float, batch, 3, 8, width>("x");
  const auto w = g.placeholder<float, 3, 3, 3, 5>("w");
  static_assert(std::is_same_v<decltype(fg::conv2d<same_size>(x, w)), fg::tensor<float, batch, 5, 8, width>>);
  static_assert(std::is_same_v<decltype(fg::max_pool<fg::pool{.window = {2, 1}, .layout = fg::nchw}>(x)),
                               fg::tensor<float, batch, 3, 4, width>>);
  const auto y = g.placeholder<float, batch, 5, 4, 6>("y");
  static_assert(std::is_same_v<decltype(fg::conv2d_transpose<halving>(y, w)), fg::tensor<float, batch, 3, 8, 12>>);
  static_assert(
      std::is_same_v<decltype(fg::conv2d_transpose<halving, 7, 11>(y, w)), fg::tensor<float, batch, 3, 7, 11>>);
  return true;
}
static_assert(shapes());

}  // namespace

TEST_CASE("channels first: convolutions") {
  const fg::testing::op_rows rows("layout");
  rows.row<f32<1, 2, 3, 4>, f32<3, 3, 2, 3>>("nchw_conv2d_3x3_same",
                                             [](auto x, auto w) { return fg::conv2d<same_size>(x, w); });
  rows.row<f32<2, 3, 1, 2>, f32<1, 1, 3, 2>>("nchw_conv2d_1x1",
                                             [](auto x, auto w) { return fg::conv2d<no_padding>(x, w); });
  rows.row<f32<1, 2, 5, 4>, f32<3, 2, 2, 2>>("nchw_conv2d_strided",
                                             [](auto x, auto w) { return fg::conv2d<tall_steps>(x, w); });
  rows.row<f32<1, 1, 5, 4>, f32<2, 2, 1, 2>>("nchw_conv2d_dilated_explicit",
                                             [](auto x, auto w) { return fg::conv2d<spread>(x, w); });
  rows.row<f32<1, 4, 3, 2>, f32<2, 2, 2, 2>>("nchw_conv2d_groups",
                                             [](auto x, auto w) { return fg::conv2d<in_pairs>(x, w); });
  rows.row<f32<1, 2, 2, 3>, f32<3, 3, 1, 2>>("nchw_conv2d_transpose_same_stride_2",
                                             [](auto x, auto w) { return fg::conv2d_transpose<halving, 4, 5>(x, w); });
  rows.row<f32<2, 1, 2, 1>, f32<2, 2, 2, 1>>("nchw_conv2d_transpose_valid",
                                             [](auto x, auto w) { return fg::conv2d_transpose<no_padding>(x, w); });
  rows.row<f32<1, 2, 3, 2>, f32<3, 3, 2, 1>>("nchw_depthwise_conv2d_same",
                                             [](auto x, auto w) { return fg::depthwise_conv2d<same_size>(x, w); });
  rows.row<f32<2, 3, 3, 4>, f32<2, 2, 3, 2>>("nchw_depthwise_conv2d_multiplier_2_strided",
                                             [](auto x, auto w) { return fg::depthwise_conv2d<skipping>(x, w); });
}

TEST_CASE("channels first: pooling") {
  const fg::testing::op_rows rows("layout");
  rows.row<f32<1, 2, 4, 4>>("nchw_max_pool_2x2", [](auto x) { return fg::max_pool<quarters>(x); });
  rows.row<f32<1, 2, 4, 4>>("nchw_avg_pool_2x2", [](auto x) { return fg::avg_pool<quarters>(x); });
  rows.row<f32<2, 3, 5, 4>>("nchw_max_pool_3x3_stride_2_same", [](auto x) { return fg::max_pool<overlapping>(x); });
  rows.row<f32<2, 3, 5, 4>>("nchw_avg_pool_3x3_stride_2_same", [](auto x) { return fg::avg_pool<overlapping>(x); });
  rows.row<f32<1, 1, 2, 5>>("nchw_max_pool_1_by_3", [](auto x) { return fg::max_pool<wide>(x); });
  rows.row<f32<1, 1, 2, 5>>("nchw_avg_pool_1_by_3", [](auto x) { return fg::avg_pool<wide>(x); });
}

TEST_CASE("channels first: bias and normalisation") {
  const fg::testing::op_rows rows("layout");
  const auto add_bias = [](auto x, auto b) { return fg::bias_add<fg::nchw>(x, b); };
  rows.row<f32<2, 3, 2, 1>, f32<3>>("nchw_bias_add_2x3x2x1", add_bias);
  rows.row<f32<1, 2, 3, 4>, f32<2>>("nchw_bias_add_1x2x3x4", add_bias);
  rows.row<f32<4, 3>, f32<3>>("nchw_bias_add_4x3", add_bias);
  const auto train = [](double epsilon) {
    return [=](auto x, auto scale, auto offset) {
      const auto [y, mean, variance] = fg::batch_norm<fg::nchw>(x, scale, offset, epsilon);
      return std::tuple(y, mean, variance);
    };
  };
  const auto infer = [](double epsilon) {
    return [=](auto x, auto scale, auto offset, auto mean, auto variance) {
      return fg::batch_norm<fg::nchw>(x, scale, offset, mean, variance, epsilon);
    };
  };
  rows.row<f32<2, 3, 2, 2>, f32<3>, f32<3>>("nchw_batch_norm_training_image", train(1e-3));
  rows.row<f32<1, 1, 3, 3>, f32<1>, f32<1>>("nchw_batch_norm_training_one_channel", train(1e-2));
  rows.row<f32<2, 3, 2, 2>, f32<3>, f32<3>, f32<3>, f32<3>>("nchw_batch_norm_inference_image", infer(1e-3));
  rows.row<f32<1, 1, 3, 3>, f32<1>, f32<1>, f32<1>, f32<1>>("nchw_batch_norm_inference_one_channel", infer(1e-2));
  rows.row<f32<1, 6, 1, 2>>("nchw_local_response_normalization_alexnet",
                            [](auto x) { return fg::local_response_normalization<fg::nchw>(x, 2, 2.0, 1e-4, 0.75); });
  rows.row<f32<2, 5, 2, 1>>("nchw_local_response_normalization_radius_1",
                            [](auto x) { return fg::local_response_normalization<fg::nchw>(x, 1, 1.0, 0.5, 0.75); });
}

TEST_CASE("every golden of the layout has its row") { CHECK(fg::testing::op_rows("layout").cases().size() == 24); }
