// The name that was meant, for diagnostics of one that a model does not have.
#pragma once
#include <string_view>

#include <flowgraph/core/fixed_string.hpp>
#include <flowgraph/graph/node.hpp>

namespace flowgraph {

// A fact.
template <fixed_string... Names>
struct did_you_mean;

namespace detail {

constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How many letters must be changed, added or left out to get from a to b, twice; once those that differ in case alone.
// A template, so that programs without such a mistake don't pay for it.
template <class Text>
constexpr int letters_apart(Text a, Text b) {
  vec<int> row(static_cast<int>(b.size()) + 1);
  for (int j = 0; j < row.size(); ++j) row[j] = 2 * j;
  for (int i = 1; i <= static_cast<int>(a.size()); ++i) {
    int diagonal = row[0];
    row[0] = 2 * i;
    for (int j = 1; j < row.size(); ++j) {
      const int above = row[j];
      const char x = a.data()[i - 1], y = b.data()[j - 1];
      const int changed = diagonal + (x == y ? 0 : lower_case(x) == lower_case(y) ? 1 : 2);
      const int longer = (above < row[j - 1] ? above : row[j - 1]) + 2;
      row[j] = changed < longer ? changed : longer;
      diagonal = above;
    }
  }
  return row[row.size() - 1];
}

// The node whose name is nearest among those that fit; -1 where none is near.
template <class Fits>
constexpr int near_node(const graph_view& g, std::string_view wanted, const Fits& fits) {
  const int letters = static_cast<int>(wanted.size()), near = 2 * (letters / 3 + 1) + 1;
  int node = -1, apart = near < 2 * letters ? near : 2 * letters;
  for (const name_entry& e : g.names) {
    if (!fits(e.node)) continue;
    const int d = letters_apart(wanted, g.text(e.text));
    if (d < apart) apart = d, node = e.node;
  }
  return node;
}

}  // namespace detail
}  // namespace flowgraph
