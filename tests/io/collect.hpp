// What a dataset gives, and something to make one of.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace flowgraph::testing {

// 0, 1, 2, ...
inline std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i;
  return v;
}

template <class Data>
auto collect(const Data& data) {
  std::vector<typename Data::value_type> all;
  for (auto value : data) all.push_back(std::move(value));
  return all;
}

}  // namespace flowgraph::testing
