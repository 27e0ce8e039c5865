// Arithmetic on named extents. An extent computed from named ones is a polynomial in them with integer
// coefficients; its canonical text ("2*batch", "batch*time", "time-1", "(h+1)/2") is its identity, so two ways of
// computing the same extent compare equal wherever they meet. A floor division is an atom: "(h+1)/2".
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "other_half.hpp"
#include "text_view.hpp"
#include "vec.hpp"

namespace flowgraph::detail {

// Sums and products stop at the ends of the type: larger than any memory in either case.
constexpr std::int64_t saturated_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}
constexpr std::int64_t saturated_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

inline constexpr int max_extent_text = 95;

// A short text with room for one extent.
struct extent_text {
  char chars[max_extent_text + 1]{};
  int length = 0;
  bool too_long = false;

  constexpr extent_text() = default;
  constexpr explicit extent_text(std::string_view s) { append(s); }
  constexpr void append(char c) {
    if (length == max_extent_text) {
      too_long = true;
      return;
    }
    chars[length++] = c;
  }
  constexpr void append(std::string_view s) {
    for (const char c : s) append(c);
  }
  FLOWGRAPH_CONSTEXPR void append(std::int64_t n) {
    if (n < 0) append('-');
    auto rest = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    char digits[20]{};
    int count = 0;
    do digits[count++] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (count > 0) append(digits[--count]);
  }
  constexpr std::string_view view() const { return text_view(chars, length); }
};

// Where a text goes: what products of several sums come to has no room in a short one.
struct extent_writer {
  extent_text* brief = nullptr;
  vec<char>* full = nullptr;

  constexpr bool empty() const { return (brief != nullptr ? brief->length : full->count) == 0; }
  constexpr void append(char c) {
    if (brief != nullptr)
      brief->append(c);
    else
      full->push(c);
  }
  constexpr void append(std::string_view s) {
    for (const char c : s) append(c);
  }
  FLOWGRAPH_CONSTEXPR void append(std::int64_t n) {
    extent_text number;
    number.append(n);
    append(number.view());
  }
};

// coefficient * factors[0] * factors[1] * ..., factors sorted; no factors: a number.
struct extent_term {
  static constexpr int max_factors = 8;
  std::int64_t coefficient = 0;
  extent_text factors[max_factors];
  int count = 0;

  FLOWGRAPH_CONSTEXPR bool same_factors(const extent_term& o) const {
    if (count != o.count) return false;
    for (int i = 0; i < count; ++i)
      if (factors[i].view() != o.factors[i].view()) return false;
    return true;
  }
  // Order of printing: more factors first, then by text; the number comes last.
  FLOWGRAPH_CONSTEXPR bool before(const extent_term& o) const {
    if (count != o.count) return count > o.count;
    for (int i = 0; i < count; ++i)
      if (factors[i].view() != o.factors[i].view()) return factors[i].view() < o.factors[i].view();
    return false;
  }
  FLOWGRAPH_CONSTEXPR void multiply(std::string_view atom) {
    if (count == max_factors) {  // as large as anything: whoever asks for so much memory is refused
      coefficient = INT64_MAX;
      return;
    }
    int at = count++;
    while (at > 0 && atom < factors[at - 1].view()) {
      factors[at] = factors[at - 1];
      --at;
    }
    factors[at] = extent_text(atom);
  }
};

class extent_polynomial {
 public:
  constexpr extent_polynomial() = default;
  constexpr explicit extent_polynomial(std::int64_t n) {
    extent_term t;
    t.coefficient = n;
    add(t);
  }
  // Accepts what text() prints, and any sum of products that a user writes: "2*batch+1". Sets ok to false on
  // anything else.
  constexpr explicit extent_polynomial(std::string_view s) { parse(s); }

  constexpr bool ok() const { return ok_; }
  constexpr const vec<extent_term>& terms() const { return terms_; }

  FLOWGRAPH_CONSTEXPR void add(const extent_term& t) {
    for (int i = 0; i < terms_.size(); ++i)
      if (terms_[i].same_factors(t)) {
        terms_[i].coefficient = saturated_add(terms_[i].coefficient, t.coefficient);
        return;
      }
    int at = terms_.push(t);
    for (; at > 0 && t.before(terms_[at - 1]); --at) {
      terms_[at] = terms_[at - 1];
      terms_[at - 1] = t;
    }
  }
  FLOWGRAPH_CONSTEXPR void add(const extent_polynomial& o, std::int64_t sign) {
    for (extent_term t : o.terms_) {
      t.coefficient = saturated_mul(t.coefficient, sign);
      add(t);
    }
    ok_ = ok_ && o.ok_;
  }
  FLOWGRAPH_CONSTEXPR extent_polynomial times(const extent_polynomial& o) const {
    extent_polynomial r;
    for (const extent_term& a : terms_)
      for (const extent_term& b : o.terms_) {
        extent_term t = a;
        t.coefficient = saturated_mul(t.coefficient, b.coefficient);
        for (int i = 0; i < b.count; ++i) t.multiply(b.factors[i].view());
        r.add(t);
      }
    r.ok_ = ok_ && o.ok_;
    return r;
  }
  // floor(this / n). Multiples of n are taken out; the rest is the atom "(...)/n", its coefficients between 0 and n-1
  // and without a common factor. A floor of a floor is one floor. So every way to write an extent has one text.
  FLOWGRAPH_CONSTEXPR extent_polynomial floor_divided(std::int64_t n) const {
    extent_polynomial whole, rest;
    whole.ok_ = ok_;
    std::int64_t common = n, number = 0;
    int named = 0;
    for (extent_term t : terms_) {
      extent_term multiple = t;
      const std::int64_t over = t.coefficient % n;
      multiple.coefficient = t.coefficient / n - (over < 0);
      t.coefficient = over < 0 ? over + n : over;
      if (multiple.coefficient != 0) whole.add(multiple);
      if (t.coefficient == 0) continue;
      if (t.count == 0) {
        number = t.coefficient;
      } else {
        ++named;
        common = greatest_common_divisor(common, t.coefficient);
        rest.add(t);
      }
    }
    if (named == 0) return whole;  // 0 <= number < n
    // floor((g x + c) / (g m)) = floor((x + floor(c / g)) / m)
    for (extent_term& t : rest.terms_) t.coefficient /= common;
    n /= common;
    number /= common;
    const extent_term& only = rest.terms_[0];
    if (named == 1 && only.coefficient == 1 && only.count == 1 && only.factors[0].chars[0] == '(') {
      // floor((floor(p / m) + c) / n) = floor((p + c m) / (m n))
      const std::string_view inner = only.factors[0].view();
      const auto close = inner.rfind(")/");
      std::int64_t m = 0;
      for (auto k = close + 2; k < inner.size(); ++k) m = m * 10 + (inner[k] - '0');
      extent_polynomial p(inner.substr(1, close - 1));
      p.add(extent_polynomial(saturated_mul(number, m)), 1);
      whole.add(p.floor_divided(saturated_mul(m, n)), 1);
      return whole;
    }
    rest.add(extent_polynomial(number), 1);
    extent_text atom;
    atom.append('(');
    atom.append(rest.text().view());
    atom.append(std::string_view(")/"));
    atom.append(n);
    extent_term t;
    t.coefficient = 1;
    t.multiply(atom.view());
    whole.ok_ = whole.ok_ && !atom.too_long;
    whole.add(t);
    return whole;
  }
  FLOWGRAPH_CONSTEXPR extent_text text() const {
    extent_text r;
    write({.brief = &r});
    return r;
  }
  // Of any length.
  FLOWGRAPH_CONSTEXPR vec<char> long_text() const {
    vec<char> r;
    write({.full = &r});
    return r;
  }
  FLOWGRAPH_CONSTEXPR void write(extent_writer r) const {
    for (const extent_term& t : terms_) {
      if (t.coefficient == 0) continue;
      if (!r.empty() && t.coefficient > 0) r.append('+');
      if (t.count == 0) {
        r.append(t.coefficient);
        continue;
      }
      if (t.coefficient == -1) r.append('-');
      if (t.coefficient != 1 && t.coefficient != -1) {
        r.append(t.coefficient);
        r.append('*');
      }
      for (int i = 0; i < t.count; ++i) {
        if (i > 0) r.append('*');
        r.append(t.factors[i].view());
      }
    }
    if (r.empty()) r.append('0');
  }
  // The number, if nothing in it is named.
  FLOWGRAPH_CONSTEXPR bool constant(std::int64_t& value) const {
    value = 0;
    for (const extent_term& t : terms_) {
      if (t.coefficient == 0) continue;
      if (t.count > 0) return false;
      value = t.coefficient;
    }
    return true;
  }

 private:
  static constexpr bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static constexpr std::int64_t greatest_common_divisor(std::int64_t a, std::int64_t b) {
    return b == 0 ? a : greatest_common_divisor(b, a % b);
  }
  static constexpr bool digit(char c) { return c >= '0' && c <= '9'; }

  FLOWGRAPH_CONSTEXPR void parse(std::string_view s) {
    const int n = static_cast<int>(s.size());
    int i = 0;
    auto at = [&](int k) { return k < n ? s[static_cast<unsigned>(k)] : '\0'; };
    while (i < n && ok_) {
      extent_term t;
      t.coefficient = 1;
      extent_polynomial sums;  // the product of factors that are not one term, empty if there are none
      if (at(i) == '+' || at(i) == '-') {
        if (at(i) == '-') t.coefficient = -1;
        ++i;
      }
      for (bool more = true; more && ok_;) {
        const int start = i;
        if (digit(at(i))) {
          std::int64_t value = 0;
          while (digit(at(i))) value = saturated_add(saturated_mul(value, 10), at(i++) - '0');
          t.coefficient = saturated_mul(t.coefficient, value);
        } else if (letter(at(i))) {
          while (letter(at(i)) || digit(at(i))) ++i;
          t.multiply(s.substr(static_cast<unsigned>(start), static_cast<unsigned>(i - start)));
        } else if (at(i) == '(') {
          for (int depth = 0; i < n; ++i) {
            if (at(i) == '(') ++depth;
            if (at(i) == ')' && --depth == 0) break;
          }
          if (at(i) != ')' || at(i + 1) != '/' || !digit(at(i + 2))) {
            ok_ = false;
            break;
          }
          const int close = i;
          std::int64_t by = 0;
          for (i += 2; digit(at(i)); ++i) by = saturated_add(saturated_mul(by, 10), at(i) - '0');
          const extent_polynomial inner(
              s.substr(static_cast<unsigned>(start + 1), static_cast<unsigned>(close - start - 1)));
          if (!inner.ok_ || by == 0) {
            ok_ = false;
            break;
          }
          const extent_polynomial divided = inner.floor_divided(by);
          if (divided.terms_.size() <= 1) {
            t.coefficient = saturated_mul(t.coefficient, divided.terms_.empty() ? 0 : divided.terms_[0].coefficient);
            for (int k = 0; !divided.terms_.empty() && k < divided.terms_[0].count; ++k)
              t.multiply(divided.terms_[0].factors[k].view());
          } else if (sums.terms_.empty()) {
            sums = divided;
          } else {
            sums = sums.times(divided);
          }
        } else {
          ok_ = false;
        }
        more = at(i) == '*';
        if (more) ++i;
      }
      if (i < n && at(i) != '+' && at(i) != '-') ok_ = false;
      if (!sums.terms_.empty()) {
        extent_polynomial product;
        product.add(t);
        add(product.times(sums), 1);
      } else {
        add(t);
      }
    }
    if (n == 0) ok_ = false;
  }

  vec<extent_term> terms_;
  bool ok_ = true;
};

// f(name) for each name in an extent's text: "2*batch+(time+1)/2" has batch and time.
template <class F>
constexpr void each_name(std::string_view text, const F& f) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && (letter(text[end]) || digit(text[end]))) ++end;
    if (end > i && !digit(text[i])) f(text.substr(i, end - i));
    i = end > i ? end : i + 1;
  }
}

// The number an extent text stands for. lookup(name) gives a named extent's number, or -1 where it is not known
// yet; then the result is -1 too.
template <class Lookup>
constexpr std::int64_t evaluate_extent(std::string_view text, const Lookup& lookup) {
  const extent_polynomial p(text);
  std::int64_t sum = 0;
  for (const extent_term& t : p.terms()) {
    std::int64_t product = t.coefficient;
    for (int i = 0; i < t.count; ++i) {
      const std::string_view f = t.factors[i].view();
      std::int64_t value = -1;
      if (f[0] == '(') {
        const auto close = f.rfind(")/");
        std::int64_t by = 0;
        for (auto k = close + 2; k < f.size(); ++k) by = by * 10 + (f[k] - '0');
        const std::int64_t inner = evaluate_extent(f.substr(1, close - 1), lookup);
        value = inner < 0 ? -1 : inner / by;
      } else {
        value = lookup(f);
      }
      if (value < 0) return -1;
      product = saturated_mul(product, value);
    }
    sum = saturated_add(sum, product);
  }
  return sum;
}

}  // namespace flowgraph::detail
