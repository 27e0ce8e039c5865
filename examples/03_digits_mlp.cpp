// Handwritten digits: a network with one hidden layer, trained on four fifths of 1,797 images, tested on the rest.
//
//   x [batch, 64] --> matmul w1 [64, 32] + b1 --> relu --> matmul w2 [32, 10] + b2 --> logits [batch, 10]
//
//   logits, y [batch] --+--> softmax cross-entropy --> mean --> loss --> adagrad by w1, b1, w2, b2 --> train
//                       +--> argmax = y ------------> mean --> accuracy
//
//   example_03_digits_mlp [data directory] [threads]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/digits.hpp"
#include "support/progress.hpp"

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto digits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 64, 32>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, 32>("b1");
  auto w2 = g.variable<float, 32, 10>("w2", fg::init::glorot_uniform());
  auto b2 = g.variable<float, 10>("b2");

  auto h = relu(matmul(x, w1) + b1);                   // [batch, 32]
  auto logits = g.name("logits", matmul(h, w2) + b2);  // [batch, 10]
  auto loss = reduce_mean(softmax_cross_entropy_with_logits(logits, y));

  g.name("loss", loss);
  g.name("accuracy", reduce_mean(cast<float>(equal(argmax<1>(logits), y))));
  g.name("train", fg::adagrad(0.05).minimize(loss));
});

static_assert(digits.parameters() == 64 * 32 + 32 + 32 * 10 + 10);

struct training_result {
  float loss = 0, accuracy = 0;
};

inline training_result train_digits(fg::session<digits>& s, const example::digits_data& data, int epochs) {
  constexpr std::size_t size = 32;
  const std::size_t images = data.train.labels.size();
  const example::progress bar(epochs);
  training_result r;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (std::size_t first = 0; first < images; first += size) {
      const std::size_t n = std::min(size, images - first);
      r.loss = s.run<"loss", "train">(fg::feed<"x">(std::span(data.train.pixels).subspan(64 * first, 64 * n)),
                                      fg::feed<"y">(std::span(data.train.labels).subspan(first, n)));
    }
    r.accuracy = s.run<"accuracy">(fg::feed<"x">(data.test.pixels), fg::feed<"y">(data.test.labels));
    bar.show(epoch, fmt::format("loss {:.4f}, test accuracy {:.1f}%", r.loss, 100 * r.accuracy));
  }
  return r;
}

int main(int argc, char** argv) try {
  const example::digits_data data(example::data_directory(argc, argv));
  fg::session<digits> s({.threads = argc > 2 ? std::atoi(argv[2]) : 1, .seed = 42});
  const training_result r = train_digits(s, data, 60);
  fmt::print("{:.2f}% of {} images that the network has not seen are read correctly\n", 100 * r.accuracy,
             data.test.labels.size());
  return r.accuracy >= 0.96f ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
