// ResNet-101 (He et al. 2015) as it is trained: 224 x 224 images, 33 bottleneck blocks of three convolutions with batch
// norm, gradients and momentum, and a session that runs its training step. What bench/compile times: a deep model.
#include <cstdint>
#include <flowgraph.hpp>
#include <string_view>
#include <vector>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

constexpr fg::conv slides(int stride) { return {.stride = {stride, stride}, .padding = fg::same}; }

template <int Channels, int Window, int Stride = 1>
constexpr auto normalized(const auto& x, std::string_view name) {
  const auto y = fg::layers::conv2d<Channels, Window, Window, slides(Stride)>(x, name, {.bias = false});
  return fg::layers::batch_norm(y, name, fg::phase::training);
}

template <int Channels, int Stride>
constexpr auto within_block(const auto& x) {
  const auto a = relu(normalized<Channels, 1>(x, "reduce"));
  const auto b = relu(normalized<Channels, 3, Stride>(a, "window"));
  return normalized<4 * Channels, 1>(b, "expand");
}

// The first block of a stage changes the shape; the others, which are alike, keep it.
template <int Blocks, int Channels, int Stride>
constexpr auto stage(fg::graph& g, const auto& x, std::string_view name) {
  constexpr std::string_view names[] = {"block2",  "block3",  "block4",  "block5",  "block6",  "block7",
                                        "block8",  "block9",  "block10", "block11", "block12", "block13",
                                        "block14", "block15", "block16", "block17", "block18", "block19",
                                        "block20", "block21", "block22", "block23"};
  const auto scope = g.scope(name);
  auto y = [&] {
    const auto block = g.scope("block1");
    return relu(normalized<4 * Channels, 1, Stride>(x, "shortcut") + within_block<Channels, Stride>(x));
  }();
  for (int i = 0; i < Blocks - 1; ++i) {
    const auto block = g.scope(names[i]);
    y = relu(y + within_block<Channels, 1>(y));
  }
  return y;
}

inline constexpr auto resnet_101 = fg::define([](fg::graph& g) {
  const auto x = g.placeholder<float, batch, 224, 224, 3>("x");
  const auto y = g.placeholder<std::int64_t, batch>("y");
  const auto stem = relu(normalized<64, 7, 2>(x, "stem"));
  const auto small = fg::max_pool<fg::pool{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same}>(stem);
  const auto c3 = stage<4, 128, 2>(g, stage<3, 64, 1>(g, small, "stage2"), "stage3");
  const auto c5 = stage<3, 512, 2>(g, stage<23, 256, 2>(g, c3, "stage4"), "stage5");  // [batch, 7, 7, 2048]
  const auto logits = g.name("logits", fg::layers::dense<1000>(fg::reduce_mean<1, 2>(c5), "predictions"));
  const auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("accuracy", reduce_mean(fg::cast<float>(equal(fg::argmax<1>(logits), y))));
  g.name("train", fg::momentum(0.1).minimize(loss));
});

int main() {
  fg::session<resnet_101> s;
  const std::vector<float> images(224 * 224 * 3);
  const std::vector<std::int64_t> labels{0};
  const float loss = s.run<"loss", "train">(fg::feed<"x">(images), fg::feed<"y">(labels));
  return loss > 0 ? 0 : 1;
}
