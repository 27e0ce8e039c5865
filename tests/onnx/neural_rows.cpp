#include <flowgraph/define.hpp>

#include "rows.hpp"

namespace flowgraph::testing {

namespace {

constexpr dim batch{"batch"};
constexpr dim height{"height"};
constexpr dim width{"width"};
const std::vector<binding> sizes{batch(2), height(7), width(6)};

using matrix = tensor<float, batch, 6>;
using images = tensor<float, batch, 7, 6, 4>;
using any_images = tensor<float, batch, height, width, 4>;
using first_images = tensor<float, batch, 4, 7, 6>;
using filter = tensor<float, 3, 3, 4, 5>;

}  // namespace

void neural_rows() {
  row<matrix, tensor<float, 6, 3>>("matmul", [](auto a, auto b) { return matmul(a, b); });
  row<tensor<float, batch, 3, 4>, tensor<float, batch, 5, 4>>("matmul_transposed",
                                                              [](auto a, auto b) { return matmul<transpose_b>(a, b); });
  row<tensor<float, batch, 3, 4>, tensor<float, 4, 5>>(
      "einsum", [](auto a, auto b) { return std::tuple(einsum<"bij,jk->bki">(a, b), einsum<"bij->j">(a)); });
  row<images>("reduce", [](auto x) {
    return std::tuple(reduce_sum<1, 2>(x), reduce_max<3>(x, keepdims), reduce_min<0>(x), reduce_prod<2>(x),
                      logsumexp<3>(x), norm<1>(x));
  });
  row<tensor<bool, batch, 6>>("reduce_truth",
                              [](auto x) { return std::tuple(reduce_any<1>(x), reduce_all<0>(x, keepdims)); });
  row<images>("softmax", [](auto x) { return std::tuple(softmax<1>(x), log_softmax<3>(x)); });
  row<matrix, tensor<std::int64_t, batch>>("cross_entropy",
                                           [](auto x, auto y) { return softmax_cross_entropy_with_logits(x, y); },
                                           {.low = 0, .high = 5.99});

  row<images, filter>("conv", [](auto x, auto w) { return conv2d(x, w); });
  row<images, filter>("conv_same", [](auto x, auto w) {
    return conv2d<conv{.stride = {2, 1}, .padding = same}>(x, w);
  });
  row<any_images, filter>("conv_same_of_names",
                          [](auto x, auto w) {
                            return conv2d<conv{.stride = {2, 2}, .padding = same}>(x, w);
                          },
                          {.extents = sizes});
  row<any_images, filter>("conv_dilated",
                          [](auto x, auto w) {
                            return conv2d<conv{.dilation = {2, 1}, .padding = same}>(x, w);
                          },
                          {.extents = sizes});
  row<first_images, filter>("conv_channels_first", [](auto x, auto w) {
    return conv2d<conv{.stride = {1, 2}, .padding = padded(1, 2, 0, 1), .layout = nchw}>(x, w);
  });
  row<images, tensor<float, 3, 3, 2, 6>>("conv_groups", [](auto x, auto w) { return conv2d<conv{.groups = 2}>(x, w); });
  row<images, tensor<float, 2, 2, 4, 3>>("conv_depthwise", [](auto x, auto w) { return depthwise_conv2d(x, w); });
  row<images, tensor<float, 3, 3, 5, 4>>("conv_transpose", [](auto x, auto w) {
    return std::tuple(conv2d_transpose<conv{.stride = {2, 2}, .padding = same}>(x, w), conv2d_transpose(x, w));
  });
  row<any_images, tensor<float, 3, 3, 5, 4>>("conv_transpose_of_names",
                                             [](auto x, auto w) {
                                               return conv2d_transpose<conv{.stride = {2, 2}, .padding = same}>(x, w);
                                             },
                                             {.extents = sizes});
  row<images>("max_pool", [](auto x) {
    return std::tuple(max_pool(x), max_pool<pool{.window = {3, 3}, .stride = {2, 2}, .padding = same}>(x));
  });
  row<images>("avg_pool", [](auto x) {
    return std::tuple(avg_pool(x), avg_pool<pool{.window = {3, 2}, .stride = {1, 1}, .padding = same}>(x));
  });
  row<first_images>("pool_channels_first", [](auto x) { return max_pool<pool{.window = {2, 3}, .layout = nchw}>(x); });
  row<images>("local_response", [](auto x) { return local_response_normalization(x, 1, 2, 0.5, 0.75); });

  row<matrix>("layer_norm", [](auto x) { return layers::layer_norm(x, "norm"); });
  row<images>("batch_norm", [](auto x) { return layers::batch_norm(x, "norm", phase::inference); });
  row<first_images>("batch_norm_channels_first",
                    [](auto x) { return layers::batch_norm<nchw>(x, "norm", phase::inference); });
  // A whole network: of the transposes between its layers none is left.
  row<tensor<float, batch, 8, 8, 3>>("network", [](auto x) {
    auto h =
        relu(layers::batch_norm(layers::conv2d<8, 3, 3, conv{.padding = same}>(x, "conv1"), "norm1", phase::inference));
    h = h + relu(layers::conv2d<8, 3, 3, conv{.padding = same}>(h, "conv2"));
    const auto pooled = reduce_mean<1, 2>(max_pool(h));
    return softmax(layers::dense<10>(pooled, "out"));
  });
}

}  // namespace flowgraph::testing
