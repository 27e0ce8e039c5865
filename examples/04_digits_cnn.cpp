// Handwritten digits: a small convolutional network, trained by fg::fit on four fifths of 1,797 images.
//
//   x [batch, 64] --> / 16 --> [batch, 8, 8, 1]
//     --> conv 3x3 (16) --> batch norm --> relu                          [batch, 8, 8, 16]
//     --> conv 3x3 (32) --> batch norm --> relu --> max pool --> dropout [batch, 4, 4, 32]
//     --> dense 64 --> relu --> dropout --> dense 10 = logits            [batch, 10]
//
//   The same layers twice, with the same parameters:
//     training:  statistics of the batch, elements dropped --> softmax cross-entropy --> loss --> adam = train
//     inference: running statistics, nothing dropped       --> logits --> argmax = y --> accuracy
//
//   example_04_digits_cnn [data directory] [epochs]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <flowgraph.hpp>
#include <flowgraph/data.hpp>
#include <flowgraph/fit.hpp>

#include "support/arguments.hpp"
#include "support/table.hpp"

namespace fg = flowgraph;
namespace layers = fg::layers;

inline constexpr fg::dim batch{"batch"};
inline constexpr int steps_an_epoch = 23;  // 1,438 images in batches of 64

constexpr auto network(fg::phase p) {
  constexpr fg::conv same{.padding = fg::same};
  constexpr layers::norm_options quick{.momentum = 0.9};
  const auto positive = [](auto x) { return relu(x); };
  const auto pooled = [](auto x) { return fg::flatten(fg::max_pool(x)); };
  return layers::sequential([](auto x) { return reshape<batch, 8, 8, 1>(x / 16); },  // pixels are 0 to 16
                            layers::conv2d<16, 3, 3, same>("conv1"), layers::batch_norm("norm1", p, quick), positive,
                            layers::conv2d<32, 3, 3, same>("conv2"), layers::batch_norm("norm2", p, quick), positive,
                            pooled, layers::dropout(0.25, p),  // [batch, 512]
                            layers::dense<64>("hidden"), positive, layers::dropout(0.25, p), layers::dense<10>("out"));
}

inline constexpr auto digits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(network(fg::phase::training)(x), y)));
  g.name("train", fg::adam(fg::exponential_decay(0.003, 0.9, steps_an_epoch)).minimize(loss));
  auto same = g.share_variables();  // the layers of these names, not new ones
  auto logits = g.name("logits", network(fg::phase::inference)(x));
  g.name("accuracy", reduce_mean(cast<float>(equal(argmax<1>(logits), y))));
});

inline constexpr int enough = 20;  // epochs until the network must be as good as it should be

int main(int argc, char** argv) try {
  const int epochs = example::number(argc, argv, 2, "epochs", enough);
  const auto all = fg::csv<fg::ndarray<float, 64>, std::int64_t>(example::data_directory(argc, argv) + "/digits.csv");
  // Every fifth image is held out: neighbours are of one hand.
  const auto part = [&](bool held_out) {
    return all.enumerate()
        .filter([=](std::int64_t i, const auto&, std::int64_t) { return (i % 5 == 4) == held_out; })
        .map([](std::int64_t, auto image, std::int64_t label) { return std::tuple(std::move(image), label); });
  };
  fg::session<digits> s({.seed = 42});
  const fg::fit_history history =
      fg::fit(s, fg::each<"loss", "train">(part(false).shuffle(1).batch(64), fg::into<"x", "y">),
              fg::each<"accuracy">(part(true).batch(120), fg::into<"x", "y">),
              {.epochs = epochs, .better = fg::better::higher, .output = stdout});
  const double accuracy = history.epochs.back().validation.front().value;
  fmt::print("{:.2f}% of the images that the network has not seen are read correctly\n", 100 * accuracy);
  return accuracy >= 0.98 || epochs < enough ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
