// Trains a model beside PyTorch: 50 steps over four batches that come round, each loss held to tests/golden/models.txt.
#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../bench/support/inputs.hpp"
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace models {

// In float32 PyTorch itself stays within 1e-6 of these losses.
inline doctest::Approx near(double expected) { return doctest::Approx(expected).epsilon(1e-5); }

inline std::vector<flowgraph::testing::golden_array> expected(const std::string& model) {
  for (const auto& c : flowgraph::testing::read_goldens(flowgraph::testing::test_file("golden/models.txt")))
    if (c.name == model) return c.out;
  throw std::out_of_range(model);
}

// Four batches, one after another.
template <class T>
struct batches {
  std::vector<T> all;

  std::span<const T> operator()(std::size_t step) const {
    const std::size_t size = all.size() / 4;
    return std::span(all).subspan(step % 4 * size, size);
  }
};

// step(i) runs step i and gives its loss.
template <class Step>
void follow(const std::vector<double>& losses, const Step& step) {
  REQUIRE(losses.size() == 50);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CAPTURE(i);
    CHECK(static_cast<double>(step(i)) == near(losses[i]));
  }
}

}  // namespace models
