// A transformer that reads the first chapter of Genesis letter by letter, and goes on with text it has not seen.
//
//   x [batch, 32] --> embedding + positions --> h [batch, 32, 64]
//
//   two blocks:     h --+--> layer norm --> attention, 4 heads, causal mask ------> + --+
//                       '-----------------------------------------------------------'   |
//                   h <--- + <--- dense 64 <--- gelu <--- dense 256 <--- layer norm <---+
//                          '------------------------------------------------------------'
//
//   h --> layer norm --> dense --> logits [batch, 32, 128] --> softmax cross-entropy with y --> loss --> adam = train
//
//   Writing, in one step: a window of 32 letters, in each turn without its first one and with the one that was drawn.
//
//   example_12_transformer [data directory] [steps]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
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
inline constexpr int length = 32, units = 64, heads = 4, written = 200;

// The logits of the letters behind those of x.
constexpr auto guess(fg::graph& g, auto x) {
  auto at = fg::range<std::int64_t, length>(g);
  auto later = fg::expand_dims<0>(at) > fg::expand_dims<1>(at);  // [to, from]: what a letter must not see
  auto mask = fg::select(later, g.constant<float>(-1e9f), 0);
  auto h =
      layers::embedding<example::alphabet, units>(x, "letters") + layers::embedding<length, units>(at, "positions");
  for (const char* const name : {"block1", "block2"}) {
    auto block = g.scope(name);
    h = layers::residual([&](auto in) {
      auto y = layers::layer_norm(in, "norm1");
      return layers::multi_head_attention<heads>(y, y, "attention", mask);
    })(h);
    h = layers::residual(layers::sequential(
        layers::layer_norm("norm2"), layers::dense<4 * units>("wide"), [](auto in) { return gelu(in); },
        layers::dense<units>("narrow")))(h);
  }
  return layers::dense<example::alphabet>(layers::layer_norm(h, "norm"), "out");
}

inline constexpr auto transformer = fg::define([](fg::graph& g) {
  auto x = g.placeholder<std::int64_t, batch, length>("x");
  auto y = g.placeholder<std::int64_t, batch, length>("y");
  auto logits = g.name("logits", guess(g, x));  // [batch, length, 128]
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adam(fg::warm_up(50, 0.003)).minimize(loss));

  auto beginning = g.placeholder<std::int64_t, 1, length>("beginning");
  auto temperature = g.placeholder<float>("temperature");
  auto same = g.share_variables();  // it is the same network that writes
  auto [last, text] = fg::scan(
      [&](auto window, auto) {
        auto next = fg::slice<fg::from<0, length - 1, 0>, 1, 1, example::alphabet>(guess(g, window));
        auto drawn = fg::random_categorical(next / temperature);  // [1, 1]
        return std::tuple(fg::concat<1>(fg::slice<fg::from<0, 1>, 1, length - 1>(window), drawn), drawn);
      },
      beginning, fg::range<std::int64_t, written>(g));
  g.name("text", text);  // [written, 1, 1]
});

inline constexpr int enough = 300;  // steps until the model must be as good as it should be

int main(int argc, char** argv) try {
  const int steps = example::number(argc, argv, 2, "steps", enough);
  const example::letters text = example::read_letters(example::data_directory(argc, argv) + "/genesis.txt");
  fg::session<transformer> s({.seed = 42});
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
  const std::span beginning = std::span(text.held_out).first(length);
  const std::string wrote =
      example::to_text(s.run<"text">(fg::feed<"beginning">(beginning), fg::feed<"temperature">(0.5f)));
  const double known = example::known_words(wrote, text.train);
  fmt::print("{} ... {}\n{:.0f}% of these words are in the text\n", example::to_text(beginning), wrote, 100 * known);
  fmt::print("loss {:.3f} on text that it has not seen; {:.3f} is the best by how often letters occur\n", loss,
             text.entropy());
  return (loss < 0.65 * text.entropy() && known > 0.6) || steps < enough ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
