// Word vectors: which words stand near a word, learned from the first chapter of Genesis with a sampled softmax.
//
//   word [pairs] --> embedding_lookup in vectors [128, 16] --> h [pairs, 16]
//
//   weights [128, 16], biases [128] --+--> rows of the neighbour and of 24 candidates --+
//   h, neighbour [pairs] -------------+-------------------------------------------------+--> sampled_softmax_loss -->
//   mean
//                                                                                             --> adagrad = train
//   h, weights, biases --> all 128 logits --> softmax cross-entropy --> mean = loss, what the samples stand for
//
//   vectors of length 1 --> their products --> top_k = nearest
//
// A step reads and changes only the rows that it looks up: with a vocabulary of a million words it is not slower.
//
//   example_10_word_vectors [data directory]
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/table.hpp"

namespace fg = flowgraph;

inline constexpr fg::dim pairs{"pairs"};
inline constexpr std::int64_t vocabulary = 128;

inline constexpr auto word_vectors = fg::define([](fg::graph& g) {
  auto word = g.placeholder<std::int64_t, pairs>("word");
  auto neighbour = g.placeholder<std::int64_t, pairs>("neighbour");
  auto vectors = g.variable<float, vocabulary, 16>("vectors", fg::init::uniform(-0.5, 0.5));
  auto weights = g.variable<float, vocabulary, 16>("weights", fg::init::uniform(-0.1, 0.1));
  auto biases = g.variable<float, vocabulary>("biases");

  auto h = embedding_lookup(vectors, word);  // [pairs, 16]
  // Small numbers are drawn more often, and words are numbered by how often they occur.
  auto candidates = fg::log_uniform_candidates<24>(weights);
  auto sampled = fg::sampled_softmax_loss(weights, biases, h, neighbour, candidates);
  g.name("sampled", reduce_mean(sampled));
  g.name("train", fg::adagrad(0.5).minimize(reduce_mean(sampled)));

  auto logits = g.name("logits", matmul<fg::transpose_b>(h, weights) + biases);  // [pairs, 128]
  g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, neighbour)));

  auto unit = vectors / norm<1>(vectors, fg::keepdims);
  auto [cosine, nearest] = fg::top_k<4>(matmul<fg::transpose_b>(unit, unit));
  g.name("nearest", nearest);  // [128, 4]: the word itself, then three others
});

// The words of a text by numbers, the most frequent first; all that are rarer than the first 127 are the last one.
struct text_data {
  std::vector<std::string> names;
  std::vector<std::int64_t> numbers;

  explicit text_data(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + ": cannot be opened");
    std::vector<std::string> words;
    std::map<std::string, int> times;
    for (std::string word; file >> word;) {
      std::erase_if(word, [](unsigned char c) { return std::isalpha(c) == 0; });
      for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (!word.empty()) ++times[words.emplace_back(word)];
    }
    if (words.size() < 100) throw std::runtime_error(path + ": too few words to learn from");
    std::vector<std::pair<std::string, int>> order(times.begin(), times.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::map<std::string, std::int64_t> number;
    for (const auto& [word, count] : order) {
      number[word] = std::min(static_cast<std::int64_t>(number.size()), vocabulary - 1);
      if (names.size() < static_cast<std::size_t>(vocabulary - 1)) names.push_back(word);
    }
    names.resize(static_cast<std::size_t>(vocabulary), "(rare)");
    for (const std::string& word : words) numbers.push_back(number[word]);
  }
};

// What a model would reach that knows how often words occur, but nothing of which stands near which.
double loss_without_context(const std::vector<std::int64_t>& neighbours) {
  std::vector<double> share(static_cast<std::size_t>(vocabulary), 0);
  for (const std::int64_t n : neighbours)
    share[static_cast<std::size_t>(n)] += 1 / static_cast<double>(neighbours.size());
  double entropy = 0;
  for (const double p : share) entropy -= p > 0 ? p * std::log(p) : 0;
  return entropy;
}

int main(int argc, char** argv) try {
  const text_data text(example::data_directory(argc, argv) + "/genesis.txt");
  std::vector<std::pair<std::int64_t, std::int64_t>> near;  // up to two words apart
  for (std::size_t i = 0; i < text.numbers.size(); ++i)
    for (std::size_t j = i < 2 ? 0 : i - 2; j < std::min(text.numbers.size(), i + 3); ++j)
      if (i != j) near.emplace_back(text.numbers[i], text.numbers[j]);
  std::mt19937 random(1);  // shuffled by hand: std::shuffle may differ from library to library
  for (std::size_t i = near.size(); i > 1; --i) std::swap(near[i - 1], near[random() % i]);
  std::vector<std::int64_t> words, neighbours;
  for (const auto& [word, neighbour] : near) words.push_back(word), neighbours.push_back(neighbour);

  fg::session<word_vectors> s({.threads = 1, .seed = 42});
  const double without = loss_without_context(neighbours);
  fmt::print("{} words, {} pairs; without context the loss is {:.3f}\n", text.numbers.size(), words.size(), without);
  float loss = 0;
  for (int epoch = 0; epoch <= 40; ++epoch) {
    constexpr std::size_t size = 128;
    for (std::size_t first = 0; epoch > 0 && first < words.size(); first += size) {
      const std::size_t n = std::min(size, words.size() - first);
      s.run<"train">(fg::feed<"word">(std::span(words).subspan(first, n)),
                     fg::feed<"neighbour">(std::span(neighbours).subspan(first, n)));
    }
    if (epoch % 10 != 0) continue;
    loss = s.run<"loss">(fg::feed<"word">(words), fg::feed<"neighbour">(neighbours));
    fmt::print("epoch {:2}: loss {:.3f}\n", epoch, loss);
  }
  const auto nearest = s.run<"nearest">();
  for (const char* word : {"evening", "day", "earth", "fish", "herb", "saw", "created"})
    for (std::int64_t i = 0; i < vocabulary; ++i)
      if (text.names[static_cast<std::size_t>(i)] == word)
        fmt::print("{:>8}: {}, {}, {}\n", word, text.names[static_cast<std::size_t>(nearest(i, 1))],
                   text.names[static_cast<std::size_t>(nearest(i, 2))],
                   text.names[static_cast<std::size_t>(nearest(i, 3))]);
  return loss < without - 0.8 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
