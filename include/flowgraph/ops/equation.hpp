// Einstein's summation as text: "bij,bjk->bik", and what is to be known of it.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/problem.hpp>
#include <flowgraph/core/symbols.hpp>

namespace flowgraph::ops {

// A term: one letter for each axis.
struct einsum_term {
  int length = 0;
  char letters[max_rank]{};

  constexpr void push(char c) {
    if (length < max_rank) letters[length] = c;
    ++length;  // beyond max_rank: too long, which no operand matches
  }
  constexpr int count(char c) const {
    int n = 0;
    for (int i = 0; i < length && i < max_rank; ++i) n += letters[i] == c;
    return n;
  }
  constexpr bool has(char c) const { return count(c) > 0; }
  // Where it stands first; -1: nowhere.
  constexpr int find(char c) const {
    for (int i = 0; i < length && i < max_rank; ++i)
      if (letters[i] == c) return i;
    return -1;
  }
  constexpr bool repeats() const {
    for (int i = 0; i < length && i < max_rank; ++i)
      if (count(letters[i]) > 1) return true;
    return false;
  }
  constexpr einsum_term distinct() const {
    einsum_term t;
    for (int i = 0; i < length && i < max_rank; ++i)
      if (!t.has(letters[i])) t.push(letters[i]);
    return t;
  }
  constexpr bool operator==(const einsum_term& o) const {
    if (length != o.length) return false;
    for (int i = 0; i < length && i < max_rank; ++i)
      if (letters[i] != o.letters[i]) return false;
    return true;
  }
};

struct einsum_equation {
  static constexpr int max_terms = 8;

  int terms = 0;
  einsum_term term[max_terms];
  einsum_term result;
  problem why = problem::none;

  constexpr void push(const einsum_term& t) {
    if (terms < max_terms) term[terms] = t;
    ++terms;
  }
  constexpr int occurrences(char c) const {
    int n = 0;
    for (int i = 0; i < terms && i < max_terms; ++i) n += term[i].count(c);
    return n;
  }
};

// The text as a graph keeps it: without spaces, eight characters to a word, zeros behind. Room for eight terms and a
// result of eight letters each; a longer text has a term that fits no tensor.
struct einsum_text {
  static constexpr int words = 12;
  static constexpr int max_chars = 8 * words;
  std::int64_t word[words];

  constexpr char operator[](int i) const { return static_cast<char>((word[i / 8] >> (8 * (i % 8))) & 127); }
  constexpr void set(int i, char c) { word[i / 8] |= static_cast<std::int64_t>(c & 127) << (8 * (i % 8)); }
};

FLOWGRAPH_CONSTEXPR einsum_text pack(std::string_view s) {
  einsum_text t{};
  int n = 0;
  for (const char c : s)
    if (c != ' ' && n < einsum_text::max_chars) t.set(n++, c);
  return t;
}

FLOWGRAPH_CONSTEXPR einsum_text pack(const einsum_equation& e) {
  einsum_text t{};
  int n = 0;
  for (int i = 0; i < e.terms; ++i) {
    if (i > 0) t.set(n++, ',');
    for (int k = 0; k < e.term[i].length; ++k) t.set(n++, e.term[i].letters[k]);
  }
  t.set(n++, '-');
  t.set(n++, '>');
  for (int k = 0; k < e.result.length; ++k) t.set(n++, e.result.letters[k]);
  return t;
}

// Without "->" the result is every letter that occurs once, in alphabetical order.
FLOWGRAPH_CONSTEXPR einsum_equation parse(const einsum_text& text) {
  einsum_equation e;
  einsum_term t;
  bool in_result = false;
  for (int i = 0; i < einsum_text::max_chars && text[i] != 0; ++i) {
    const char c = text[i];
    if (c >= 'a' && c <= 'z') {
      t.push(c);
    } else if (c == ',' && !in_result) {
      e.push(t);
      t = {};
    } else if (c == '-' && !in_result && i + 1 < einsum_text::max_chars && text[i + 1] == '>') {
      e.push(t);
      t = {};
      in_result = true;
      ++i;
    } else {
      e.why = problem::einsum_syntax;
    }
  }
  if (in_result) {
    e.result = t;
  } else {
    e.push(t);
    for (char c = 'a'; c <= 'z'; ++c)
      if (e.occurrences(c) == 1) e.result.push(c);
  }
  if (e.terms > einsum_equation::max_terms) e.why = problem::einsum_syntax;
  return e;
}

}  // namespace flowgraph::ops
