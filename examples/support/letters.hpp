// A text as the numbers of its letters, for models that guess the next one.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <flowgraph/data.hpp>

namespace example {

inline constexpr int alphabet = 128;  // ASCII

struct letters {
  std::vector<std::int64_t> train, held_out;  // the last tenth is held out

  // The entropy of the letters that are held out, in nats: no guess by how often a letter occurs is better.
  double entropy() const {
    std::array<double, alphabet> counts{};
    for (const std::int64_t c : held_out) ++counts.at(static_cast<std::size_t>(c));
    double sum = 0;
    for (const double n : counts)
      if (n > 0) sum -= n * std::log(n / static_cast<double>(held_out.size()));
    return sum / static_cast<double>(held_out.size());
  }
};

inline letters read_letters(const std::string& path) {
  constexpr std::size_t least = 1000;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.size() < least)
    throw std::runtime_error(path + ": expected at least " + std::to_string(least) + " letters, got " +
                             std::to_string(text.size()));
  letters all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = static_cast<unsigned char>(text[i]);
    if (letter >= alphabet) throw std::runtime_error(path + ": not ASCII at byte " + std::to_string(i));
    (i < text.size() / 10 * 9 ? all.train : all.held_out).push_back(letter);
  }
  return all;
}

// Every piece of the text of this length, with the letters that follow each of its letters. The text must outlive it.
template <int Length>
auto pieces(const std::vector<std::int64_t>& text) {
  std::vector<std::size_t> begins(text.size() - Length);
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  return flowgraph::from_memory(std::move(begins)).map([&text](std::size_t at) {
    using piece = flowgraph::ndarray<std::int64_t, Length>;
    return std::tuple(piece(std::span(text).subspan(at, Length)), piece(std::span(text).subspan(at + 1, Length)));
  });
}

template <class Numbers>
std::string to_text(const Numbers& numbers) {
  return std::string(numbers.begin(), numbers.end());
}

// Which part of the words that were written the text has, too. The first and the last one may be cut.
inline double known_words(const std::string& written, const std::vector<std::int64_t>& text) {
  const auto words = [](const std::string& s) {
    std::istringstream in(s);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  const std::vector<std::string> some = words(written), read = words(to_text(text));
  const std::set<std::string> known(read.begin(), read.end());
  double count = 0;
  for (std::size_t i = 1; i + 1 < some.size(); ++i) count += known.contains(some[i]) ? 1 : 0;
  return some.size() > 2 ? count / static_cast<double>(some.size() - 2) : 0;
}

}  // namespace example
