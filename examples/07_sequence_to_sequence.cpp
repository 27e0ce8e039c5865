// Reads Roman numerals and writes them with digits: "MCMXCIV" becomes "1994". A tenth of the numbers is held out.
//
//   source [batch, 15] --> embedding --> gru --> memory [batch, 15, 64], and h [batch, 64], its last state
//
//   step(token, h):  embedding --> gru cell --> h --> softmax(h . memory), padding hidden --> context = sum of memory
//                                               '--> concat(h, context) --> dense --> logits [batch, 11]
//
//   Trained with the right digits given:  scan of step over begin, 1, 9, 9, 4   --> loss --> adam = train
//   Then by itself, in one step:          greedy_decode from begin on, to the end token = tokens, count
//
//   example_07_sequence_to_sequence [data directory, which it does not need] [steps]
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <flowgraph.hpp>
#include <flowgraph/data.hpp>

#include "support/arguments.hpp"
#include "support/progress.hpp"

namespace fg = flowgraph;
namespace layers = fg::layers;

inline constexpr fg::dim batch{"batch"};
inline constexpr int units = 64, width = 16;
inline constexpr int longest = 15, digits = 4;  // MMMDCCCLXXXVIII is 3888
inline constexpr int words = 11;                // 0 to 9, and what stands before and behind a number
inline constexpr std::int64_t end_token = 10;

inline constexpr auto translator = fg::define([](fg::graph& g) {
  auto source = g.placeholder<std::int64_t, batch, longest>("source");
  auto length = g.placeholder<std::int64_t, batch>("length");
  auto seen = layers::embedding<7, width>(source, "letters");
  auto [outputs, h0] = layers::gru<units, layers::recurrent{.batch_first = true}>(seen, "encoder", length);
  auto memory = outputs;  // a lambda can't capture a part of a structured binding where clang 16 compiles
  auto at = fg::range<std::int64_t, longest>(g);
  auto padding = fg::select(at < fg::expand_dims<1>(length), g.constant<float>(0), -1e9f);  // [batch, longest]

  const auto step = [&](auto token, auto h) {
    auto word = fg::expand_dims<1>(layers::embedding<words, width>(token, "digits"));  // [batch, 1, width]
    auto next = std::get<1>(layers::gru<units, layers::recurrent{.batch_first = true}>(word, "decoder", h));
    auto weights = fg::softmax(fg::einsum<"btu,bu->bt">(memory, next) + padding);
    auto context = fg::einsum<"bt,btu->bu">(weights, memory);
    auto mixed = tanh(layers::dense<units>(fg::concat<1>(next, context), "mixed"));
    return std::tuple(layers::dense<words>(mixed, "out"), next);  // [batch, words], [batch, units]
  };

  auto given = g.placeholder<std::int64_t, batch, digits + 1>("given");
  auto target = g.placeholder<std::int64_t, batch, digits + 1>("target");
  auto [h, logits] = fg::scan(
      [&](auto state, auto token) {
        auto [guess, next] = step(token, state);
        return std::tuple(next, guess);
      },
      h0, fg::transpose<1, 0>(given));
  auto loss = reduce_mean(softmax_cross_entropy_with_logits(logits, fg::transpose<1, 0>(target)));
  g.name("logits", logits);  // [digits + 1, batch, words]
  g.name("loss", loss);
  g.name("train", fg::adam(0.003).minimize(loss));

  auto begin = fg::fill<std::int64_t, batch>(g, end_token);
  auto same = g.share_variables();  // the layers of the step that is trained
  auto [tokens, count] = fg::greedy_decode<digits + 2>(step, begin, end_token, h0);
  g.name("tokens", tokens);  // [digits + 2, batch]
  g.name("count", count);    // [batch]
});

inline std::string roman(int n) {
  constexpr std::array<std::pair<int, const char*>, 13> parts{{{1000, "M"},
                                                               {900, "CM"},
                                                               {500, "D"},
                                                               {400, "CD"},
                                                               {100, "C"},
                                                               {90, "XC"},
                                                               {50, "L"},
                                                               {40, "XL"},
                                                               {10, "X"},
                                                               {9, "IX"},
                                                               {5, "V"},
                                                               {4, "IV"},
                                                               {1, "I"}}};
  std::string text;
  for (const auto& [value, letters] : parts)
    for (; n >= value; n -= value) text += letters;
  return text;
}

// A number as the model is fed with it: source, length, given, target.
inline auto pair_of(int n) {
  const std::string letters = roman(n), decimal = std::to_string(n);
  fg::ndarray<std::int64_t, longest> source;
  fg::ndarray<std::int64_t, digits + 1> given, target;
  for (std::size_t i = 0; i < letters.size(); ++i)
    source(i) = static_cast<std::int64_t>(std::string_view("IVXLCDM").find(letters[i]));
  for (std::size_t i = 0; i < digits + 1; ++i) {
    target(i) = i < decimal.size() ? decimal[i] - '0' : end_token;
    given(i) = i > 0 ? target(i - 1) : end_token;
  }
  return std::tuple(std::move(source), static_cast<std::int64_t>(letters.size()), std::move(given), std::move(target));
}

inline constexpr int enough = 1200;  // steps until the model must be as good as it should be

int main(int argc, char** argv) try {
  const int steps = example::number(argc, argv, 2, "steps", enough);
  std::vector<int> train, held_out;  // those whose digits add up to a multiple of ten
  for (int n = 1; n < 4000; ++n)
    ((n % 10 + n / 10 % 10 + n / 100 % 10 + n / 1000) % 10 == 0 ? held_out : train).push_back(n);

  fg::session<translator> s({.seed = 42});
  const example::progress bar(steps);
  int step = 0;
  for (auto [source, length, given, target] : fg::from_memory(train).map(pair_of).shuffle(1).batch(32).repeat()) {
    const float loss = s.run<"loss", "train">(fg::feed<"source">(source), fg::feed<"length">(length),
                                              fg::feed<"given">(given), fg::feed<"target">(target));
    bar.show(++step, fmt::format("loss {:.4f}", loss));
    if (step == steps) break;
  }

  std::size_t right = 0, row = 0;
  for (auto [source, length, given, target] : fg::from_memory(held_out).map(pair_of).batch(1000)) {
    const auto [tokens, count] = s.run<"tokens", "count">(fg::feed<"source">(source), fg::feed<"length">(length));
    for (std::int64_t i = 0; i < count.size(); ++i, ++row) {
      std::string written;
      for (std::int64_t k = 0; k < count(i); ++k) written += static_cast<char>('0' + tokens(k, i));
      right += written == std::to_string(held_out[row]);
      if (row % 50 == 0) fmt::print("{:>16} {}\n", roman(held_out[row]), written);
    }
  }
  const double share = static_cast<double>(right) / static_cast<double>(held_out.size());
  fmt::print("{:.1f}% of {} numbers that the model has not seen are written without a mistake\n", 100 * share,
             held_out.size());
  return share >= 0.95 || steps < enough ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
