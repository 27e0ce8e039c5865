// A variational autoencoder that is told which digit it sees: it learns to write digits of its own, and a picture of
// them.
//
//   x [batch, 64], y --> concat with one_hot(y) --> dense 256 --> relu --+--> dense --> mean    [batch, 10]
//                                                                        '--> dense --> spread  [batch, 10]
//   z = mean + exp(spread) noise --> concat with one_hot(y) --> dense 256 --> relu --> dense --> sigmoid --> drawn
//
//   loss = |x - drawn|^2 / (2 pixel_deviation^2) + KL(z | standard normal) --> adam = train
//
//   noise [100, 10], the digits 0 to 9 --> the same layers behind z --> samples [100, 64]
//     --+--> a row for each digit, framed, enlarged --> picture [400, 400] --> samples.png
//       '--> the nearest of the images in x, its label --> is it the digit that was asked for? --> readable
//
//   example_13_digits_vae [data directory] [epochs] [file]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <flowgraph.hpp>
#include <flowgraph/data.hpp>

#include "support/arguments.hpp"
#include "support/progress.hpp"
#include "support/table.hpp"

namespace fg = flowgraph;
namespace layers = fg::layers;

inline constexpr fg::dim batch{"batch"};
inline constexpr int latent = 10, units = 256;
inline constexpr double pixel_deviation = 0.2;  // of an image from what is drawn

// From z, and which digit it is to be, to its pixels.
constexpr auto draw(auto z, auto digit) {
  auto h = relu(layers::dense<units>(fg::concat<1>(z, fg::one_hot<10>(digit)), "draw"));
  return sigmoid(layers::dense<64>(h, "pixels"));
}

inline constexpr auto vae = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x") / 16;  // pixels are 0 to 16
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h = relu(layers::dense<units>(fg::concat<1>(x, fg::one_hot<10>(y)), "see"));
  auto mean = g.name("mean", layers::dense<latent>(h, "mean"));
  auto spread = layers::dense<latent>(h, "spread");  // the logarithm of the deviation
  auto z = g.name("z", mean + exp(spread) * fg::random_normal<float, batch, latent>(g));
  auto drawn = g.name("drawn", draw(z, y));
  auto wrong = reduce_sum<1>(square(x - drawn)) / (2 * pixel_deviation * pixel_deviation);
  auto kl = reduce_sum<1>(square(mean) + exp(spread * 2) - spread * 2 - 1) / 2;
  g.name("kl", reduce_mean(kl));
  auto loss = g.name("loss", reduce_mean(wrong + kl));
  g.name("train", fg::adam(fg::exponential_decay(0.003, 0.98, 29)).minimize(loss));

  auto asked = fg::floordiv(fg::range<std::int64_t, 100>(g), 10);  // ten times 0, ten times 1, ...
  auto noise = g.name("noise", fg::random_normal<float, 100, latent>(g));
  auto same = g.share_variables();  // by the layers that are trained
  auto samples = draw(noise, asked);
  auto framed = fg::pad<0, 0, 0, 0, 1, 1, 1, 1>(reshape<10, 10, 8, 8>(samples));
  auto picture = reshape<100, 1, 100, 1>(fg::transpose<0, 2, 1, 3>(framed));  // rows of digits, rows of their pixels
  g.name("picture", reshape<400, 400>(fg::tile<1, 4, 1, 4>(picture)));

  // |s - x|^2 is |x|^2 - 2 s x, but for what is the same for all x.
  auto distance = reduce_sum<1>(square(x)) - 2 * matmul<fg::transpose_b>(samples, x);  // [100, batch]
  g.name("readable", reduce_mean(cast<float>(equal(fg::gather<0>(y, argmin<1>(distance)), asked))));
});

inline constexpr int enough = 60;  // epochs until the samples must be as good as they should be

int main(int argc, char** argv) try {
  const int epochs = example::number(argc, argv, 2, "epochs", enough);
  const auto data = fg::csv<fg::ndarray<float, 64>, std::int64_t>(example::data_directory(argc, argv) + "/digits.csv");
  const std::string file = argc > 3 ? argv[3] : "samples.png";
  fg::session<vae> s({.seed = 42});
  const example::progress bar(epochs);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    float loss = 0;
    for (auto [x, y] : data.shuffle(1).batch(64).epoch(static_cast<std::uint64_t>(epoch)))
      loss = s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
    bar.show(epoch, fmt::format("loss {:.2f}", loss));
  }
  float readable = 0, kl = 0;
  for (auto [x, y] : data.batch(data.size())) {
    auto [picture, share, nats] = s.run<"picture", "readable", "kl">(fg::feed<"x">(x), fg::feed<"y">(y));
    fg::save_png(file, picture);
    readable = share;
    kl = nats;
  }
  fmt::print("{}: {:.0f} of 100 digits are nearest to an image of the digit that was asked for\n", file,
             100 * readable);
  fmt::print("z tells {:.1f} nats about an image\n", kl);
  return (readable >= 0.85f && kl > 3) || epochs < enough ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
