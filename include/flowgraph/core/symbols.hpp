// Extents as shape rules see them. An extent is one number: a size (>= 0), or -1-k for symbol k of a table. Within
// one table equal extents are equal numbers, so rules and passes compare integers, never texts.
#pragma once
#include <cstdint>
#include <string_view>

#include "extent_text.hpp"
#include "hash.hpp"
#include "text_view.hpp"
#include "vec.hpp"

namespace flowgraph {

using extent = std::int64_t;

inline constexpr int max_rank = 8;

struct extents {
  int rank = 0;
  extent d[max_rank]{};

  constexpr extent& operator[](int i) { return d[i]; }
  constexpr extent operator[](int i) const { return d[i]; }
  // From the back: last(0) is the innermost extent.
  constexpr extent last(int i) const { return d[rank - 1 - i]; }
  constexpr void push(extent e) { d[rank++] = e; }
  constexpr bool operator==(const extents& o) const {
    if (rank != o.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (d[i] != o.d[i]) return false;
    return true;
  }
};

// Of extents that are numbers.
constexpr std::int64_t element_count(const extents& e) {
  std::int64_t n = 1;
  for (int i = 0; i < e.rank; ++i) n = detail::saturated_mul(n, e.d[i]);
  return n;
}

struct symbol {
  int text;  // first character in the table's chars
  int length;
  std::uint64_t hash;
};

class symbols {
 public:
  FLOWGRAPH_CONSTEXPR extent intern(std::string_view text) {
    const std::uint64_t h = detail::hash(text);
    for (int i = 0; i < entries_.size(); ++i)
      if (entries_[i].hash == h) return -1 - i;
    symbol s{chars_.size(), static_cast<int>(text.size()), h};
    for (const char c : text) chars_.push(c);
    return -1 - entries_.push(s);
  }
  constexpr std::string_view text(extent e) const {
    const symbol& s = entries_[static_cast<int>(-1 - e)];
    return detail::text_view(chars_.begin() + s.text, s.length);
  }
  constexpr std::uint64_t hash(extent e) const {
    return e >= 0 ? static_cast<std::uint64_t>(e) : entries_[static_cast<int>(-1 - e)].hash;
  }

  constexpr extent add(extent a, extent b) { return a >= 0 && b >= 0 ? detail::saturated_add(a, b) : combine(a, b, 1); }
  constexpr extent sub(extent a, extent b) {
    if (a == b) return 0;
    return a >= 0 && b >= 0 ? a - b : combine(a, b, -1);
  }
  FLOWGRAPH_CONSTEXPR extent mul(extent a, extent b) {
    if (a >= 0 && b >= 0) return detail::saturated_mul(a, b);
    if (a == 1) return b;
    if (b == 1) return a;
    return reduce(polynomial(a).times(polynomial(b)));
  }
  FLOWGRAPH_CONSTEXPR extent floordiv(extent a, std::int64_t n) {
    if (a >= 0) return a / n;
    if (n == 1) return a;
    return reduce(polynomial(a).floor_divided(n));
  }
  // Is a - b a number? It may be negative, which sub could not tell from a name.
  FLOWGRAPH_CONSTEXPR bool known_difference(extent a, extent b, std::int64_t& value) const {
    value = a == b ? 0 : a - b;
    if (a == b || (a >= 0 && b >= 0)) return true;
    auto p = polynomial(a);
    p.add(polynomial(b), -1);
    return p.constant(value);
  }
  // The number of elements.
  FLOWGRAPH_CONSTEXPR extent product(const extents& e) {
    extent r = 1;
    for (int i = 0; i < e.rank; ++i) r = mul(r, e.d[i]);
    return r;
  }

  constexpr int size() const { return entries_.size(); }
  constexpr const detail::vec<symbol>& entries() const { return entries_; }
  constexpr const detail::vec<char>& chars() const { return chars_; }

 private:
  FLOWGRAPH_CONSTEXPR detail::extent_polynomial polynomial(extent e) const {
    if (e >= 0) return detail::extent_polynomial(e);  // not a conditional expression: g++ 12 destroys its value twice
    return detail::extent_polynomial(text(e));
  }
  FLOWGRAPH_CONSTEXPR extent combine(extent a, extent b, std::int64_t sign) {
    auto p = polynomial(a);
    p.add(polynomial(b), sign);
    return reduce(p);
  }
  FLOWGRAPH_CONSTEXPR extent reduce(const detail::extent_polynomial& p) {
    std::int64_t value = 0;
    if (p.constant(value)) return value;
    const detail::extent_text text = p.text();
    if (!text.too_long) return intern(text.view());
    const detail::vec<char> whole = p.long_text();
    return intern(detail::text_view(whole.begin(), whole.count));
  }

  detail::vec<symbol> entries_;
  detail::vec<char> chars_;
};

}  // namespace flowgraph
