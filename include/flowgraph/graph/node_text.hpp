// How printed graphs write attributes, types and shapes.
#pragma once
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

#include "node.hpp"

namespace flowgraph::detail {

// A word is an integer or the bits of a double. Those of doubles that are not tiny are no sensible integers.
inline std::string word_text(std::int64_t word) {
  const auto bits = static_cast<std::uint64_t>(word) & 0x7FFFFFFFFFFFFFFFull;
  if (bits < 0x0010000000000000ull || bits >= 0x7FF0000000000000ull) return std::to_string(word);
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", std::bit_cast<double>(word));
  return text;
}

// float[batch, 32]; a scalar is float.
inline std::string type_text_of(const graph_view& g, dtype type, int shape) {
  std::string s(name_of(type));
  const extents e = g.shape(shape);
  for (int i = 0; i < e.rank; ++i) {
    s += i == 0 ? "[" : ", ";
    s += e[i] >= 0 ? std::to_string(e[i]) : std::string(g.symbol_text(e[i]));
  }
  return e.rank == 0 ? s : s + ']';
}

}  // namespace flowgraph::detail
