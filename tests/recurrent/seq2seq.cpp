// A sequence-to-sequence model with attention, beside PyTorch: it learns to write words backwards, and then writes
// them, greedily and by beam search, inside one step.
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
#include "../../bench/support/inputs.hpp"
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
namespace layers = flowgraph::layers;

namespace {

constexpr fg::dim source_time{"source_time"};
constexpr fg::dim target_time{"target_time"};
constexpr int words = 8, width = 4, units = 6, batch = 3, most = 7;
constexpr std::int64_t begin_token = 0, end_token = 1;

constexpr auto model = fg::define([](fg::graph& g) {
  auto source = g.placeholder<std::int64_t, source_time, batch>("source");
  auto lengths = g.placeholder<std::int64_t, batch>("lengths");
  auto read = layers::embedding<words, width, double>(source, "source");
  auto [outputs, h0, c0] = layers::lstm<units>(read, "encoder", lengths);
  auto memory = outputs;  // a lambda that runs in clang 16's compiler can't capture a part of a structured binding
  auto at = fg::reshape<1, source_time>(fg::range<std::int64_t, source_time>(g));
  auto hidden = fg::select(at < fg::expand_dims<1>(lengths), g.constant<double>(0), -1e9);  // [batch, source_time]

  auto table = g.variable<double, words, width>("target");
  fg::recurrent_weights cell{g.variable<double, 4 * units, width>("weight_ih"),
                             g.variable<double, 4 * units, units>("weight_hh"),
                             g.variable<double, 4 * units>("bias_ih"), g.variable<double, 4 * units>("bias_hh")};
  auto w = g.variable<double, words, 2 * units>("out_w");
  auto b = g.variable<double, words>("out_b");
  const auto step = [&](const auto& tokens, const auto& h, const auto& c) {
    auto [next_h, next_c] = fg::lstm_cell(fg::embedding_lookup(table, tokens), std::tuple(h, c), cell);
    auto weights = fg::softmax(fg::einsum<"tbu,bu->bt">(memory, next_h) + hidden);
    auto context = fg::einsum<"bt,tbu->bu">(weights, memory);
    auto logits = fg::matmul<fg::transpose_b>(fg::concat<1>(next_h, context), w) + b;
    return std::tuple(logits, next_h, next_c);
  };

  // Trained with what should have been written so far.
  auto given = g.placeholder<std::int64_t, target_time, batch>("given");
  auto target = g.placeholder<std::int64_t, target_time, batch>("target_tokens");
  auto counted = g.placeholder<double, target_time, batch>("counted");
  auto [h, c, logits] = fg::scan(
      [&](const auto& state, const auto& cell_state, const auto& tokens) {
        auto [y, next_h, next_c] = step(tokens, state, cell_state);
        return std::tuple(next_h, next_c, y);
      },
      std::tuple(h0, c0), given);
  auto losses = fg::softmax_cross_entropy_with_logits(logits, target);
  auto loss = g.name("loss", fg::reduce_sum(losses * counted) / fg::reduce_sum(counted));
  g.name("train", fg::adam(0.05).minimize(loss));

  auto begin = g.constant<std::int64_t, batch>(begin_token);
  auto [tokens, count] = fg::greedy_decode<most>(step, begin, end_token, h0, c0);
  g.name("tokens", tokens);
  g.name("count", count);
  auto [beams, scores] = fg::beam_search<most>(step, begin, end_token, h0, c0);
  g.name("beams", beams);
  g.name("scores", scores);
});

std::vector<double> numbers(std::size_t n, std::uint32_t salt) {
  const auto v = bench::numbers(n, salt, 0.5f);
  return {v.begin(), v.end()};
}

template <class Array>
void check_tokens(const fg::testing::golden_array& expected, const Array& got) {
  CHECK(std::vector<std::int64_t>(got.begin(), got.end()) == expected.as<std::int64_t>());
}

}  // namespace

TEST_CASE("words backwards: trained, then written greedily and by beam search") {
  fg::session<model> s({.threads = 2});
  s.set<"source/table">(numbers(words * width, 0));
  s.set<"target">(numbers(words * width, 1));
  s.set<"encoder/weight_ih_l0">(numbers(4 * units * width, 2));
  s.set<"encoder/weight_hh_l0">(numbers(4 * units * units, 3));
  s.set<"encoder/bias_ih_l0">(numbers(4 * units, 4));
  s.set<"encoder/bias_hh_l0">(numbers(4 * units, 5));
  s.set<"weight_ih">(numbers(4 * units * width, 6));
  s.set<"weight_hh">(numbers(4 * units * units, 7));
  s.set<"bias_ih">(numbers(4 * units, 8));
  s.set<"bias_hh">(numbers(4 * units, 9));
  s.set<"out_w">(numbers(words * 2 * units, 10));
  s.set<"out_b">(numbers(words, 11));

  const auto expected = fg::testing::read_goldens(fg::testing::test_file("golden/seq2seq.txt")).at(0).out;
  const std::vector<std::int64_t> source{2, 4, 7, 5, 6, 3, 3, 2, 1, 7, 1, 1}, lengths{4, 3, 2};  // by time
  const std::vector<std::int64_t> given{0, 0, 0, 7, 2, 3, 3, 6, 7, 5, 4, 1, 2, 1, 1};
  const std::vector<std::int64_t> target{7, 2, 3, 3, 6, 7, 5, 4, 1, 2, 1, 1, 1, 1, 1};
  const std::vector<double> counted{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0};
  for (std::size_t i = 0; i < expected[0].values.size(); ++i) {
    CAPTURE(i);
    const double loss =
        s.run<"loss", "train">(fg::feed<"source">(source), fg::feed<"lengths">(lengths), fg::feed<"given">(given),
                               fg::feed<"target_tokens">(target), fg::feed<"counted">(counted));
    CHECK(loss == doctest::Approx(expected[0].values[i]).epsilon(1e-6));
  }
  const auto [tokens, count] = s.run<"tokens", "count">(fg::feed<"source">(source), fg::feed<"lengths">(lengths));
  check_tokens(expected[1], tokens);
  check_tokens(expected[2], count);

  // All beams look at the first word.
  const std::vector<std::int64_t> first{2, 2, 2, 5, 5, 5, 3, 3, 3, 7, 7, 7}, its_length{4, 4, 4};
  const auto [beams, scores] = s.run<"beams", "scores">(fg::feed<"source">(first), fg::feed<"lengths">(its_length));
  check_tokens(expected[3], beams);
  for (std::int64_t k = 0; k < batch; ++k)
    CHECK(scores(k) == doctest::Approx(expected[4].values[static_cast<std::size_t>(k)]).epsilon(1e-6));
}
