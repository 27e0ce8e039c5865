// What random graphs (random_graph.hpp) are fed, and how their results are compared.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <flowgraph/session/feed.hpp>

#include "random_graph.hpp"

namespace random_graph {

struct feeds {
  fg::ndarray<float, batch, 4> x{fg::binding{"batch", 5}};
  fg::ndarray<float, 3, 4> y;
  fg::ndarray<double, batch> d{fg::binding{"batch", 5}};
  fg::ndarray<float, batch, 6, 6, 2> image{fg::binding{"batch", 5}};
  fg::ndarray<std::int64_t, batch> classes{fg::binding{"batch", 5}};
  fg::ndarray<std::int32_t, 3, 4> counts;

  explicit feeds(std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto fill = [&](auto& array) {
      for (auto& v : array)
        v = static_cast<std::remove_reference_t<decltype(v)>>(static_cast<double>(random() % 30011) / 10000 - 1.5);
    };
    fill(x);
    fill(y);
    fill(d);
    fill(image);
    for (auto& c : classes) c = static_cast<std::int64_t>(random() % 3);
    for (auto& c : counts) c = static_cast<std::int32_t>(random() % 10);
  }

  // f(feed...) with a feed for each placeholder, by a name that the compiler knows.
  template <class F>
  auto give(const F& f) const {
    return f(fg::feed<"x">(x), fg::feed<"y">(y), fg::feed<"d">(d), fg::feed<"image">(image),
             fg::feed<"classes">(classes), fg::feed<"counts">(counts));
  }
};

using output_rows = std::vector<std::vector<double>>;

// How far apart two results lie, in units of what rounding explains: 1 or less is agreement.
inline double distance(const output_rows& expected, const output_rows& got, bool halves) {
  const double tolerance = halves ? 1e-2 : 3e-5;
  if (expected.size() != got.size()) return INFINITY;
  double worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (expected[k].size() != got[k].size()) return INFINITY;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      const double error = std::abs(expected[k][i] - got[k][i]) / (1 + std::abs(expected[k][i]));
      worst = error == error ? std::max(worst, error / tolerance) : INFINITY;
    }
  }
  return worst;
}

}  // namespace random_graph
