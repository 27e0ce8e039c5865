// Numbers that look random and that any language computes alike: a hash of the index. Benchmarks and the models that
// are trained beside PyTorch begin with them; python/inputs.py is the same again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

// salt tells arrays apart.
inline std::uint32_t hash_of(std::size_t i, std::uint32_t salt) {
  std::uint32_t h = static_cast<std::uint32_t>(i) + salt * 0x9e3779b9u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

// In [-scale, scale).
inline std::vector<float> numbers(std::size_t n, std::uint32_t salt, float scale) {
  std::vector<float> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = scale * (static_cast<float>(hash_of(i, salt) >> 8) * 0x1p-23f - 1.0f);
  return result;
}

// In [0, count).
inline std::vector<std::int64_t> integers(std::size_t n, std::uint32_t salt, std::uint32_t count) {
  std::vector<std::int64_t> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = (hash_of(i, salt) >> 8) % count;
  return result;
}

}  // namespace bench
