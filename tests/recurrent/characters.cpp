// A character model that reads a page as PyTorch's does: the same weights and text, the same losses.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

#include "models/training.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
namespace layers = flowgraph::layers;

namespace {

constexpr fg::dim batch{"batch"};
constexpr int letters = 128, width = 8, units = 24, length = 24;

constexpr auto reader = fg::define([](fg::graph& g) {
  auto x = g.placeholder<std::int64_t, batch, length>("x");
  auto y = g.placeholder<std::int64_t, batch, length>("y");
  // Not an embedding: PyTorch's Adam also moves rows that a step has not looked up.
  auto read = fg::gather(g.variable<float, letters, width>("letters"), x);
  auto [h, last_h, last_c] = layers::lstm<units, layers::recurrent{.batch_first = true}>(read, "lstm");
  auto logits = layers::dense<letters>(h, "out");
  auto loss = g.name("loss", fg::reduce_mean(fg::softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adam(0.01).minimize(loss));
});

// Four batches of four rows: 24 letters, and those behind them.
models::batches<std::int64_t> letters_from(const std::string& text, std::size_t first) {
  models::batches<std::int64_t> result;
  for (std::size_t i = 0; i < 4 * 4 * length; ++i) result.all.push_back(text.at(i + first));
  return result;
}

}  // namespace

TEST_CASE("a model of characters has PyTorch's losses") {
  std::ifstream file(fg::testing::test_file("../examples/data/genesis.txt"), std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE(text.size() > 4 * 4 * length);
  fg::session<reader> s({.threads = 2});
  s.set<"letters">(bench::numbers(letters * width, 2, 0.5f));
  s.set<"lstm/weight_ih_l0">(bench::numbers(4 * units * width, 3, 0.2f));
  s.set<"lstm/weight_hh_l0">(bench::numbers(4 * units * units, 4, 0.2f));
  s.set<"lstm/bias_ih_l0">(bench::numbers(4 * units, 5, 0.2f));
  s.set<"lstm/bias_hh_l0">(bench::numbers(4 * units, 6, 0.2f));
  s.set<"out/w">(bench::numbers(units * letters, 7, 0.2f));
  s.set<"out/b">(bench::numbers(letters, 8, 0.1f));
  const auto x = letters_from(text, 0), y = letters_from(text, 1);
  models::follow(models::expected("characters")[0].values, [&](std::size_t i) -> float {
    return s.run<"loss", "train">(fg::feed<"x">(x(i)), fg::feed<"y">(y(i)));
  });
}
