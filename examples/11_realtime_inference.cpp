// Inference in a real-time loop: a GRU that PyTorch trained reads handwritten digits as a scanner would bring them, a
// row of pixels every half millisecond. A tick allocates nothing, and the state stays in the graph from tick to tick.
//
//   row [1, 8] --+--> gru_cell --> h [1, 32] --+--> matmul out/weight [10, 32] transposed + out/bias --> logits [1, 10]
//   state -------+                             +--> assign to state = advance
//   gru/weight_ih_l0 [96, 8], gru/weight_hh_l0 [96, 32], two biases [96]: names and extents as PyTorch has them
//
//   0 --> assign to state = begin
//
//   example_11_realtime_inference [data directory]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <flowgraph.hpp>
#include <flowgraph/checkpoint.hpp>

#include "support/allocations.hpp"
#include "support/digits.hpp"

namespace fg = flowgraph;

inline constexpr auto reader = fg::define([](fg::graph& g) {
  auto row = g.placeholder<float, 1, 8>("row");
  auto state = g.variable<float, 1, 32>("state", fg::init::zeros(), fg::training::frozen);
  auto gru = [&] {
    auto scope = g.scope("gru");
    return fg::recurrent_weights{g.variable<float, 96, 8>("weight_ih_l0"), g.variable<float, 96, 32>("weight_hh_l0"),
                                 g.variable<float, 96>("bias_ih_l0"), g.variable<float, 96>("bias_hh_l0")};
  };
  auto linear = [&](auto x) {
    auto scope = g.scope("out");
    return matmul<fg::transpose_b>(x, g.variable<float, 10, 32>("weight")) + g.variable<float, 10>("bias");
  };
  auto h = g.name("next", fg::gru_cell(row, state, gru()));  // [1, 32]
  g.name("logits", linear(h));
  g.name("advance", assign(state, h));
  g.name("begin", assign(state, 0));
});

// What a tick needs is known before the program runs.
static_assert(reader.peak_bytes<"logits", "advance">() <= 4096);

// "gru/weight_ih_l0" is "gru.weight_ih_l0" in PyTorch's file.
std::string torch_name(std::string_view name) {
  std::string in_file(name);
  std::replace(in_file.begin(), in_file.end(), '/', '.');
  return in_file;
}

// What PyTorch itself says of each image, 10 numbers an image.
std::vector<float> expected_logits(const std::string& path, std::size_t images) {
  fg::safetensors_file file(path);
  const fg::stored_tensor* const t = file.find("logits");
  if (t == nullptr || t->type != fg::dtype::float32 || t->bytes() != images * 10 * sizeof(float))
    throw std::runtime_error(path + ": expected \"logits\", 10 float32 for each of " + std::to_string(images) +
                             " images");
  std::vector<float> values(images * 10);
  file.read(*t, std::as_writable_bytes(std::span(values)));
  return values;
}

int main(int argc, char** argv) try {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds period(500);
  const std::string directory = example::data_directory(argc, argv);
  const example::labelled_images images = example::digits_data(directory).test;
  const std::vector<float> expected =
      expected_logits(directory + "/digits_gru_logits.safetensors", images.labels.size());

  fg::session<reader> s({.threads = 1});  // no thread but this one
  fg::restore(s, directory + "/digits_gru.safetensors", {.name_in_file = torch_name, .trainable_only = true});

  // Everything that the loop writes to is there before it begins, and each signature has run once.
  fg::ndarray<float, 1, 10> logits;
  std::vector<double> microseconds;
  microseconds.reserve(8 * images.labels.size());
  s.run_into<"logits", "advance">(logits, fg::feed<"row">(std::span(images.pixels).first(8)));
  s.run<"begin">();

  float worst_difference = 0;
  std::size_t correct = 0;
  const std::int64_t allocated = example::allocations;
  auto due = clock::now();
  for (std::size_t image = 0; image < images.labels.size(); ++image) {
    s.run<"begin">();
    for (std::size_t row = 0; row < 8; ++row) {
      std::this_thread::sleep_until(due);
      const auto began = clock::now();
      s.run_into<"logits", "advance">(logits,
                                      fg::feed<"row">(std::span(images.pixels).subspan(64 * image + 8 * row, 8)));
      const auto ended = clock::now();
      microseconds.push_back(std::chrono::duration<double, std::micro>(ended - began).count());
      due += period;
    }
    std::int64_t digit = 0;
    for (int k = 0; k < 10; ++k) {
      worst_difference =
          std::max(worst_difference, std::abs(logits(0, k) - expected[10 * image + static_cast<std::size_t>(k)]));
      if (logits(0, k) > logits(0, static_cast<int>(digit))) digit = k;
    }
    correct += digit == images.labels[image] ? 1 : 0;
  }
  const std::int64_t in_loop = example::allocations - allocated;

  std::sort(microseconds.begin(), microseconds.end());
  const auto percentile = [&](double p) {
    return microseconds[static_cast<std::size_t>(p / 100 * static_cast<double>(microseconds.size() - 1))];
  };
  fmt::print("{} ticks, {} us apart: median {:.1f} us, 99% {:.1f} us, 99.9% {:.1f} us, longest {:.1f} us\n",
             microseconds.size(), period.count(), percentile(50), percentile(99), percentile(99.9), percentile(100));
  fmt::print("{} allocations in the loop\n", in_loop);
  fmt::print("{:.2f}% of {} digits are read correctly; logits differ from PyTorch's by at most {:.0e}\n",
             100 * static_cast<double>(correct) / static_cast<double>(images.labels.size()), images.labels.size(),
             worst_difference);
  return in_loop == 0 && worst_difference < 1e-4f && correct >= images.labels.size() * 97 / 100 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
