// The way of 16-bit numbers through float: all values there and back, and every kind of rounding.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <flowgraph/kernels/cpu/in_float.hpp>

namespace fg = flowgraph;

TEST_CASE_TEMPLATE("every 16-bit number comes back from float as it was", T, fg::half, fg::bfloat16) {
  std::vector<T> all(65536), back(65536);
  std::vector<float> wide(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  fg::detail::widen(all.data(), wide.data(), 65536);
  fg::detail::narrow(wide.data(), back.data(), 65536);
  int wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float one = static_cast<float>(all[i]);
    wrong += std::isnan(one) ? !std::isnan(wide[i]) || !std::isnan(static_cast<float>(back[i]))
                             : wide[i] != one || back[i].bits != all[i].bits;
  }
  CHECK(wrong == 0);
}

// Around each pair of neighbours: a little above the lower, the middle, and a little to both sides of it.
TEST_CASE_TEMPLATE("floats are rounded to the nearest, and to even", T, fg::half, fg::bfloat16) {
  std::vector<float> x;
  for (int i = 0; i < 0x7C00; i += 7) {
    T low, high;
    low.bits = static_cast<std::uint16_t>(i);
    high.bits = static_cast<std::uint16_t>(i + 1);
    const float a = static_cast<float>(low), b = static_cast<float>(high), middle = a + (b - a) / 2;
    if (!std::isfinite(b)) continue;
    for (const float v : {std::nextafter(a, b), middle, std::nextafter(middle, a), std::nextafter(middle, b)}) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  std::vector<T> y(x.size());
  fg::detail::narrow(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += y[i].bits != T(x[i]).bits;
  CHECK(wrong == 0);
}
