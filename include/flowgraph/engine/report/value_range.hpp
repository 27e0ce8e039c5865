// What a tensor holds, in one line: the least and the greatest number, and how many are none.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/core/text_from.hpp>
#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

template <class Tag = void>
struct basic_value_range {
  std::int64_t count = 0, nans = 0, infinities = 0;
  double min = 0, max = 0;  // of the others
  std::int64_t first = -1;  // the first that is not finite
  double first_value = 0;

  basic_value_range() = default;
  explicit basic_value_range(const array_view& v) : count(v.size()) {
    with_type(v.type, [&]<class T>(T) {
      const T* const x = v.as<const T>();
      bool any = false;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto n = static_cast<double>(x[i]);
        if (!std::isfinite(n)) {
          if (first < 0) first = i, first_value = n;
          ++(std::isnan(n) ? nans : infinities);
          continue;
        }
        min = any ? std::min(min, n) : n;
        max = any ? std::max(max, n) : n;
        any = true;
      }
    });
  }

  bool is_finite() const { return nans == 0 && infinities == 0; }
  // -1 to 3.5, 2 NaN, 1 infinite
  std::string text() const {
    if (count == 0) return "no elements";
    std::string s =
        count == nans + infinities ? "no finite numbers" : text_from({six_digits(min), " to ", six_digits(max)});
    if (nans > 0) s += text_from({", ", nans, " NaN"});
    if (infinities > 0) s += text_from({", ", infinities, " infinite"});
    return s;
  }
};
using value_range = basic_value_range<>;

// NaN has a sign that means nothing.
template <class Tag = void>
std::string odd_number_text(double x) {
  return std::isnan(x) ? "NaN" : x > 0 ? "infinity" : "-infinity";
}

// [1, 3]: where element i stands.
template <class Tag = void>
std::string index_text(const array_view& v, std::int64_t i) {
  std::string s;
  for (int axis = v.rank - 1; axis >= 0; --axis) {
    s = std::to_string(i % v.dim(axis)) + (s.empty() ? "" : ", ") + s;
    i /= v.dim(axis);
  }
  return '[' + s + ']';
}

}  // namespace flowgraph::detail
