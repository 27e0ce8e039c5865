// A model of characters: it reads the first chapter of Genesis, guesses each next letter, and then writes by itself.
//
//   x [batch, time] --> embedding --> lstm --> dense --> logits [batch, time, 128]
//   logits, y ---------> softmax cross-entropy --> mean --> loss --> gradients, clipped --> adam = train
//
//   Writing, in one step; each letter that is drawn is the next one that is read:
//
//       .---------------------- h, c, letter <-----------------------.
//       '--> embedding --> lstm --> dense --> / temperature + noise --> argmax --> text [letters]
//
//   example_06_character_lstm [data directory] [steps]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/arguments.hpp"
#include "support/letters.hpp"
#include "support/progress.hpp"
#include "support/table.hpp"

namespace fg = flowgraph;
namespace layers = fg::layers;

inline constexpr fg::dim batch{"batch"};
inline constexpr fg::dim duration{"duration"};
inline constexpr int units = 96, length = 32, written = 300;

// The logits of the letters behind those of x [batch, time], and the states there. The same lines train and, a letter
// at a time and with the same parameters, write.
inline constexpr auto guess = [](auto x, auto h, auto c) {
  auto seen = layers::embedding<example::alphabet, 32>(x, "letters");  // [batch, time, 32]
  auto [y, next_h, next_c] =
      layers::lstm<units, layers::recurrent{.batch_first = true}>(seen, "lstm", std::tuple(h, c));
  return std::tuple(layers::dense<example::alphabet>(y, "out"), next_h, next_c);
};

inline constexpr auto reader = fg::define([](fg::graph& g) {
  auto x = g.placeholder<std::int64_t, batch, duration>("x");
  auto y = g.placeholder<std::int64_t, batch, duration>("y");
  auto zero = fg::zeros<float, batch, units>(g);
  auto [logits, h, c] = guess(x, zero, zero);
  g.name("logits", logits);  // [batch, duration, 128]
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  const auto adam = fg::adam(0.01);
  g.name("train", adam.apply_gradients(fg::clip_by_global_norm(adam.compute_gradients(loss), 1.0)));

  auto temperature = g.placeholder<float>("temperature");
  auto start = fg::zeros<float, 1, units>(g);
  auto line_break = fg::fill<std::int64_t, 1, 1>(g, '\n');
  auto same = g.share_variables();
  auto [last_h, last_c, last, text] = fg::scan(
      [&](auto state, auto cell, auto letter, auto) {
        auto [next, next_state, next_cell] = guess(letter, state, cell);  // [1, 1, 128]
        auto drawn = fg::random_categorical(next / temperature);
        return std::tuple(next_state, next_cell, drawn, drawn);
      },
      std::tuple(start, start, line_break), fg::range<std::int64_t, written>(g));
  g.name("text", text);  // [written, 1, 1]
});

inline constexpr int enough = 300;  // steps until the model must be as good as it should be

int main(int argc, char** argv) try {
  const int steps = example::number(argc, argv, 2, "steps", enough);
  const example::letters text = example::read_letters(example::data_directory(argc, argv) + "/genesis.txt");
  fg::session<reader> s({.seed = 42});
  const example::progress bar(steps);
  int step = 0;
  for (auto [x, y] : example::pieces<length>(text.train).shuffle(1).batch(32).repeat()) {
    const float loss = s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
    bar.show(++step, fmt::format("loss {:.3f}", loss));
    if (step == steps) break;
  }
  double loss = 0;
  for (auto [x, y] : example::pieces<length>(text.held_out).take(1000).batch(1000))  // one batch
    loss = s.run<"loss">(fg::feed<"x">(x), fg::feed<"y">(y));
  const std::string wrote = example::to_text(s.run<"text">(fg::feed<"temperature">(0.5f)));
  const double known = example::known_words(wrote, text.train);
  fmt::print("{}\n{:.0f}% of these words are in the text\n", wrote, 100 * known);
  fmt::print("loss {:.3f} on text that it has not seen; {:.3f} is the best by how often letters occur\n", loss,
             text.entropy());
  return (loss < 0.6 * text.entropy() && known > 0.7) || steps < enough ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
