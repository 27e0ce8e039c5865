// Convolution and pooling against the referees and central differences.
#include <doctest/doctest.h>

#include <flowgraph/functions/neural.hpp>
#include <support/op_rows.hpp>

namespace fg = flowgraph;

namespace {

template <int... E>
using f32 = fg::tensor<float, E...>;

constexpr fg::dim batch{"batch"};
constexpr fg::dim height{"height"};
constexpr fg::dim width{"width"};
template <int Channels>
using images = fg::tensor<float, batch, height, width, Channels>;

constexpr fg::conv halving{.stride = {2, 2}, .padding = fg::same};
constexpr fg::conv skipping{.stride = {2, 2}};
constexpr fg::pool overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same};

}  // namespace

TEST_CASE("conv2d: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<f32<1, 2, 3, 2>, f32<1, 1, 2, 3>>("conv2d_1x1", [](auto x, auto w) { return conv2d(x, w); });
  rows.row<f32<1, 4, 5, 1>, f32<3, 3, 1, 2>>("conv2d_3x3_valid", [](auto x, auto w) { return conv2d(x, w); });
  rows.row<f32<1, 3, 4, 1>, f32<3, 3, 1, 2>>(
      "conv2d_3x3_same", [](auto x, auto w) { return fg::conv2d<fg::conv{.padding = fg::same}>(x, w); });
  rows.row<f32<1, 3, 3, 1>, f32<2, 2, 1, 1>>(
      "conv2d_2x2_same_even_filter", [](auto x, auto w) { return fg::conv2d<fg::conv{.padding = fg::same}>(x, w); });
  rows.row<f32<1, 4, 4, 1>, f32<3, 3, 1, 1>>("conv2d_same_stride_2_even_image", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {2, 2}, .padding = fg::same}>(x, w);
  });
  rows.row<f32<1, 5, 5, 1>, f32<3, 3, 1, 1>>("conv2d_same_stride_2_odd_image", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {2, 2}, .padding = fg::same}>(x, w);
  });
  rows.row<f32<1, 5, 4, 1>, f32<2, 2, 1, 1>>("conv2d_same_stride_3_filter_2", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {3, 3}, .padding = fg::same}>(x, w);
  });
  rows.row<f32<1, 5, 6, 1>, f32<2, 3, 1, 2>>("conv2d_valid_stride_2", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {2, 2}}>(x, w);
  });
  rows.row<f32<1, 3, 5, 1>, f32<2, 2, 1, 2>>("conv2d_stride_1_by_2", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {1, 2}}>(x, w);
  });
  rows.row<f32<1, 5, 5, 1>, f32<2, 2, 1, 1>>("conv2d_dilated_valid", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.dilation = {2, 3}}>(x, w);
  });
  rows.row<f32<1, 5, 4, 1>, f32<3, 3, 1, 1>>("conv2d_dilated_same", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.dilation = {2, 2}, .padding = fg::same}>(x, w);
  });
  rows.row<f32<1, 5, 5, 1>, f32<2, 2, 1, 1>>("conv2d_dilated_strided_explicit", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {2, 2}, .dilation = {2, 2}, .padding = fg::padded(1, 1, 0, 1)}>(x, w);
  });
  rows.row<f32<1, 3, 3, 1>, f32<2, 2, 1, 2>>("conv2d_explicit_uneven", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.padding = fg::padded(1, 0, 2, 1)}>(x, w);
  });
  rows.row<f32<1, 4, 4, 1>, f32<3, 3, 1, 1>>("conv2d_explicit_stride", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {2, 2}, .padding = fg::padded(1, 1, 1, 1)}>(x, w);
  });
  rows.row<f32<2, 3, 3, 2>, f32<2, 2, 2, 1>>("conv2d_two_images_two_channels",
                                             [](auto x, auto w) { return conv2d(x, w); });
  rows.row<f32<1, 3, 3, 4>, f32<2, 2, 2, 2>>("conv2d_groups_2",
                                             [](auto x, auto w) { return fg::conv2d<fg::conv{.groups = 2}>(x, w); });
  rows.row<f32<1, 2, 3, 2>, f32<2, 2, 1, 4>>("conv2d_groups_2_more_outputs", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.padding = fg::same, .groups = 2}>(x, w);
  });
  rows.row<f32<1, 3, 3, 3>, f32<2, 2, 1, 3>>("conv2d_groups_3_strided", [](auto x, auto w) {
    return fg::conv2d<fg::conv{.stride = {2, 2}, .padding = fg::same, .groups = 3}>(x, w);
  });
  rows.row<f32<1, 3, 2, 2>, f32<3, 2, 2, 2>>("conv2d_filter_as_large_as_image",
                                             [](auto x, auto w) { return conv2d(x, w); });
  rows.row<f32<1, 1, 1, 2>, f32<3, 3, 2, 1>>(
      "conv2d_size_one_image", [](auto x, auto w) { return fg::conv2d<fg::conv{.padding = fg::same}>(x, w); });
}

TEST_CASE("conv2d_transpose: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<f32<1, 2, 3, 1>, f32<2, 2, 2, 1>>(
      "conv2d_transpose_valid", [](auto x, auto w) { return fg::conv2d_transpose<fg::conv{}, 3, 4>(x, w); });
  rows.row<f32<1, 3, 3, 1>, f32<3, 3, 1, 1>>("conv2d_transpose_same", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.padding = fg::same}, 3, 3>(x, w);
  });
  rows.row<f32<1, 2, 2, 2>, f32<3, 3, 1, 2>>("conv2d_transpose_same_stride_2", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.stride = {2, 2}, .padding = fg::same}, 4, 4>(x, w);
  });
  rows.row<f32<1, 2, 3, 1>, f32<3, 3, 1, 1>>("conv2d_transpose_same_stride_2_odd_output", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.stride = {2, 2}, .padding = fg::same}, 3, 5>(x, w);
  });
  rows.row<f32<1, 2, 2, 1>, f32<3, 2, 2, 1>>("conv2d_transpose_valid_stride_2", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.stride = {2, 2}}, 5, 4>(x, w);
  });
  rows.row<f32<1, 2, 2, 1>, f32<1, 2, 1, 1>>("conv2d_transpose_stride_beyond_filter", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.stride = {2, 3}, .padding = fg::same}, 4, 6>(x, w);
  });
  rows.row<f32<1, 2, 2, 1>, f32<3, 3, 1, 1>>("conv2d_transpose_explicit", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.stride = {2, 2}, .padding = fg::padded(1, 1, 1, 1)}, 3, 3>(x, w);
  });
  rows.row<f32<1, 2, 2, 1>, f32<2, 2, 1, 1>>("conv2d_transpose_dilated", [](auto x, auto w) {
    return fg::conv2d_transpose<fg::conv{.dilation = {2, 2}}, 4, 4>(x, w);
  });
  rows.row<f32<2, 1, 2, 2>, f32<2, 2, 1, 2>>(
      "conv2d_transpose_two_images", [](auto x, auto w) { return fg::conv2d_transpose<fg::conv{}, 2, 3>(x, w); });
}

TEST_CASE("depthwise_conv2d: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<f32<1, 3, 3, 2>, f32<2, 2, 2, 1>>("depthwise_conv2d_valid",
                                             [](auto x, auto w) { return depthwise_conv2d(x, w); });
  rows.row<f32<1, 3, 2, 2>, f32<3, 3, 2, 1>>("depthwise_conv2d_same", [](auto x, auto w) {
    return fg::depthwise_conv2d<fg::conv{.padding = fg::same}>(x, w);
  });
  rows.row<f32<1, 3, 3, 2>, f32<2, 2, 2, 2>>("depthwise_conv2d_multiplier_2",
                                             [](auto x, auto w) { return depthwise_conv2d(x, w); });
  rows.row<f32<1, 2, 3, 1>, f32<2, 2, 1, 3>>("depthwise_conv2d_multiplier_3_one_channel",
                                             [](auto x, auto w) { return depthwise_conv2d(x, w); });
  rows.row<f32<1, 4, 5, 2>, f32<3, 3, 2, 1>>("depthwise_conv2d_stride_2", [](auto x, auto w) {
    return fg::depthwise_conv2d<fg::conv{.stride = {2, 2}, .padding = fg::same}>(x, w);
  });
  rows.row<f32<1, 4, 4, 1>, f32<2, 2, 1, 2>>("depthwise_conv2d_dilated", [](auto x, auto w) {
    return fg::depthwise_conv2d<fg::conv{.dilation = {2, 2}}>(x, w);
  });
  rows.row<f32<1, 3, 3, 1>, f32<2, 2, 1, 1>>("depthwise_conv2d_explicit", [](auto x, auto w) {
    return fg::depthwise_conv2d<fg::conv{.padding = fg::padded(1, 0, 0, 1)}>(x, w);
  });
}

TEST_CASE("pooling: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<f32<1, 4, 4, 1>>("max_pool_2x2_valid", [](auto x) {
    return fg::max_pool<fg::pool{.window = {2, 2}, .stride = {2, 2}}>(x);
  });
  rows.row<f32<1, 4, 4, 1>>("avg_pool_2x2_valid", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {2, 2}, .stride = {2, 2}}>(x);
  });
  rows.row<f32<1, 5, 5, 1>>("max_pool_3x3_stride_2_valid", [](auto x) {
    return fg::max_pool<fg::pool{.window = {3, 3}, .stride = {2, 2}}>(x);
  });
  rows.row<f32<1, 5, 5, 1>>("avg_pool_3x3_stride_2_valid", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {3, 3}, .stride = {2, 2}}>(x);
  });
  rows.row<f32<1, 5, 4, 1>>("max_pool_3x3_stride_2_same", [](auto x) {
    return fg::max_pool<fg::pool{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 5, 4, 1>>("avg_pool_3x3_stride_2_same", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 3, 3, 2>>("max_pool_2x2_same_odd", [](auto x) {
    return fg::max_pool<fg::pool{.window = {2, 2}, .stride = {2, 2}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 3, 3, 2>>("avg_pool_2x2_same_odd", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {2, 2}, .stride = {2, 2}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 3, 3, 1>>("max_pool_3x3_stride_1_same", [](auto x) {
    return fg::max_pool<fg::pool{.window = {3, 3}, .stride = {1, 1}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 3, 3, 1>>("avg_pool_3x3_stride_1_same", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {3, 3}, .stride = {1, 1}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 2, 5, 1>>("max_pool_1_by_3", [](auto x) {
    return fg::max_pool<fg::pool{.window = {1, 3}, .stride = {1, 2}}>(x);
  });
  rows.row<f32<1, 2, 5, 1>>("avg_pool_1_by_3", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {1, 3}, .stride = {1, 2}}>(x);
  });
  rows.row<f32<2, 2, 2, 2>>("max_pool_two_images", [](auto x) {
    return fg::max_pool<fg::pool{.window = {2, 2}, .stride = {2, 2}}>(x);
  });
  rows.row<f32<2, 2, 2, 2>>("avg_pool_two_images", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {2, 2}, .stride = {2, 2}}>(x);
  });
  rows.row<f32<1, 2, 2, 1>>("max_pool_size_one", [](auto x) {
    return fg::max_pool<fg::pool{.window = {1, 1}, .stride = {1, 1}}>(x);
  });
  rows.row<f32<1, 2, 2, 1>>("avg_pool_size_one", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {1, 1}, .stride = {1, 1}}>(x);
  });
  rows.row<f32<1, 5, 5, 1>>("max_pool_stride_beyond_window", [](auto x) {
    return fg::max_pool<fg::pool{.window = {2, 2}, .stride = {3, 3}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 5, 5, 1>>("avg_pool_stride_beyond_window", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {2, 2}, .stride = {3, 3}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 3, 2, 2>>("max_pool_whole_image", [](auto x) {
    return fg::max_pool<fg::pool{.window = {3, 2}, .stride = {1, 1}}>(x);
  });
  rows.row<f32<1, 3, 2, 2>>("avg_pool_whole_image", [](auto x) {
    return fg::avg_pool<fg::pool{.window = {3, 2}, .stride = {1, 1}}>(x);
  });
  rows.row<f32<1, 3, 3, 1>>("max_pool_negative_same", [](auto x) {
    return fg::max_pool<fg::pool{.window = {2, 2}, .stride = {1, 1}, .padding = fg::same}>(x);
  });
  rows.row<f32<1, 1, 2, 6>>("local_response_normalization_alexnet",
                            [](auto x) { return local_response_normalization(x, 2, 2.0, 0.0001, 0.75); });
  rows.row<f32<1, 2, 1, 5>>("local_response_normalization_defaults",
                            [](auto x) { return local_response_normalization(x, 5, 1.0, 1.0, 0.5); });
  rows.row<f32<2, 1, 1, 5>>("local_response_normalization_radius_1",
                            [](auto x) { return local_response_normalization(x, 1, 1.0, 0.5, 0.75); });
  rows.row<f32<1, 1, 2, 3>>("local_response_normalization_radius_0",
                            [](auto x) { return local_response_normalization(x, 0, 1.5, 0.7, 1.0); });
  rows.row<f32<1, 2, 2, 1>>("local_response_normalization_one_channel",
                            [](auto x) { return local_response_normalization(x, 2, 1.0, 1.0, 0.5); });
}

// The same numbers where height, width and batch are only known when they are fed.
TEST_CASE("windows over named extents: values and gradients") {
  const fg::testing::op_rows rows("neural");
  rows.row<images<1>, f32<3, 3, 1, 2>>("conv2d_3x3_valid", [](auto x, auto k) { return conv2d(x, k); });
  rows.row<images<1>, f32<3, 3, 1, 1>>("conv2d_same_stride_2_even_image",
                                       [](auto x, auto k) { return fg::conv2d<halving>(x, k); });
  rows.row<images<1>, f32<3, 3, 1, 1>>("conv2d_same_stride_2_odd_image",
                                       [](auto x, auto k) { return fg::conv2d<halving>(x, k); });
  rows.row<images<1>, f32<2, 3, 1, 2>>("conv2d_valid_stride_2",
                                       [](auto x, auto k) { return fg::conv2d<skipping>(x, k); });
  rows.row<images<2>, f32<3, 3, 1, 2>>("conv2d_transpose_same_stride_2",
                                       [](auto x, auto k) { return fg::conv2d_transpose<halving>(x, k); });
  rows.row<images<1>>("max_pool_3x3_stride_2_same", [](auto x) { return fg::max_pool<overlapping>(x); });
  rows.row<images<1>>("avg_pool_3x3_stride_2_same", [](auto x) { return fg::avg_pool<overlapping>(x); });
}
