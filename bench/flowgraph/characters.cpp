// PROGRAM TEXT STEPS THREADS: trains a model of characters on a text, prints the loss of each step and, last, the
// seconds that they took. bench/characters runs it beside PyTorch.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../support/inputs.hpp"
#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr int letters = 128, width = 64, units = 256, length = 64, rows = 32;

inline constexpr auto reader = fg::define([](fg::graph& g) {
  auto x = g.placeholder<std::int64_t, length, rows>("x");
  auto y = g.placeholder<std::int64_t, length, rows>("y");
  // Not an embedding: PyTorch's Adam also moves rows that a step has not looked up.
  auto read = fg::gather(g.variable<float, letters, width>("letters"), x);
  auto [h, last_h, last_c] = fg::layers::lstm<units>(read, "lstm");
  auto loss = reduce_mean(softmax_cross_entropy_with_logits(fg::layers::dense<letters>(h, "out"), y));
  g.name("loss", loss);
  g.name("train", fg::adam(0.002).minimize(loss));
});

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s TEXT STEPS THREADS\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t steps = static_cast<std::size_t>(std::atol(argv[2])), part = text.size() / rows;
  if (part < steps * length + 1) {
    std::fprintf(stderr, "%s: the text is too short for so many steps\n", argv[0]);
    return 2;
  }
  const auto s = bench::prepared<reader>(std::atoi(argv[3]));
  s->set<"letters">(bench::numbers(letters * width, 1, 0.5f));
  s->set<"lstm/weight_ih_l0">(bench::numbers(4 * units * width, 2, 0.06f));
  s->set<"lstm/weight_hh_l0">(bench::numbers(4 * units * units, 3, 0.06f));
  s->set<"lstm/bias_ih_l0">(bench::numbers(4 * units, 4, 0.06f));
  s->set<"lstm/bias_hh_l0">(bench::numbers(4 * units, 5, 0.06f));
  s->set<"out/w">(bench::numbers(units * letters, 6, 0.06f));

  // Each row reads its own part of the text, so many letters a step; a letter is followed by the next one.
  std::vector<std::int64_t> x(length * rows), y(length * rows);
  std::vector<float> losses;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t t = 0; t < length; ++t)
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t at = row * part + step * length + t;
        x[t * rows + row] = text[at];
        y[t * rows + row] = text[at + 1];
      }
    losses.push_back(s->run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (const float loss : losses) std::printf("%.7g\n", static_cast<double>(loss));
  std::printf("%.3f\n", seconds.count());
}
