// 64-bit hashes of texts and numbers. They are identities inside a graph (op ids, shapes, symbols): with a few
// thousand keys the chance that any two collide is below 1e-12.
#pragma once
#include <cstdint>
#include <string_view>

namespace flowgraph::detail {

// One multiply and one shift per word: passes call this once per node.
constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

// FNV-1a, which can be continued: hash("ab") is hash("b", hash("a")).
constexpr std::uint64_t hash(std::string_view s, std::uint64_t h = 0xcbf29ce484222325ull) {
  const char* const end = s.data() + s.size();
  for (const char* c = s.data(); c != end; ++c) h = (h ^ static_cast<unsigned char>(*c)) * 0x100000001b3ull;
  return h;
}

}  // namespace flowgraph::detail
