// The handwritten digits of data/digits.csv, in a part to learn from and a part to be tested on.
#pragma once
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "table.hpp"

namespace example {

struct labelled_images {
  std::vector<float> pixels;  // 64 an image, from 0 to 1
  std::vector<std::int64_t> labels;
};

struct digits_data {
  labelled_images train, test;

  // Every fifth image is held out. The others are shuffled, always in the same way.
  explicit digits_data(const std::string& directory) {
    const std::string file = directory + "/digits.csv";
    const table t = read_csv(file);
    if (t.columns != 65) throw std::runtime_error(file + ": expected 64 pixels and a label in each line");
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < t.rows; ++i)
      if (i % 5 == 4)
        add(t, i, test);
      else
        order.push_back(i);
    std::mt19937 random(1);  // shuffled by hand: std::shuffle may differ from library to library
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (const std::size_t i : order) add(t, i, train);
  }

 private:
  static void add(const table& t, std::size_t row, labelled_images& to) {
    for (std::size_t j = 0; j < 64; ++j) to.pixels.push_back(static_cast<float>(t.at(row, j)) / 16.0f);
    to.labels.push_back(static_cast<std::int64_t>(t.at(row, 64)));
  }
};

}  // namespace example
