// Numbers as NumPy writes them: floating-point ones with the fewest digits that read back as the same value, at most
// eight after the point, all of an array in one style (with an exponent or without) and with their points aligned.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <flowgraph/core/dtype.hpp>

namespace flowgraph::detail {

// 0.d1d2d3... as d1.d2d3... times 10^exponent; 0 is "0".
struct decimal {
  std::string digits;
  int exponent = 0;
};

// From text such as 1234.5, 0.001 or 1.5e-07.
inline decimal parse_decimal(const std::string& text) {
  decimal d;
  const std::size_t e = std::min(text.find('e'), text.size());
  if (e < text.size()) d.exponent = std::atoi(text.c_str() + e + 1);
  bool fraction = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') {
      fraction = true;
    } else if (c != '0' || !d.digits.empty()) {
      if (!fraction && !d.digits.empty()) ++d.exponent;
      d.digits += c;
      if (fraction && d.digits.size() == 1) --d.exponent;
    } else if (fraction) {
      --d.exponent;
    }
  }
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  if (d.digits.empty()) return {"0", 0};
  return d;
}

// The fewest digits that read back as x, which is finite and not negative.
template <class T>
decimal shortest_decimal(T x) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return parse_decimal(fmt::format("{}", x));
  } else {
    for (int precision = 0;; ++precision) {
      decimal d = parse_decimal(fmt::format("{:.{}e}", static_cast<float>(x), precision));
      const double back =
          std::atof(d.digits.c_str()) * std::pow(10.0, d.exponent - static_cast<int>(d.digits.size()) + 1);
      if (precision == 8 || static_cast<float>(T(static_cast<float>(back))) == static_cast<float>(x)) return d;
    }
  }
}

inline constexpr int most_digits = 8;  // after the point

template <class T>
class float_text {
 public:
  // The numbers that will be written.
  explicit float_text(const std::vector<T>& all) {
    T least{}, most{};
    std::size_t not_finite = 0;
    bool any = false;
    for (const T x : all) {
      if (!finite(x) || x == T(0)) continue;
      const T a = magnitude(x);
      least = any ? std::min(least, a) : a;
      most = any ? std::max(most, a) : a;
      any = true;
    }
    exponents_ = any && (most >= T(large) || least < T(0.0001f) || T(most / least) > T(1000.0f));
    for (const T x : all) {
      if (!finite(x)) {
        not_finite = std::max(not_finite, text_of(x).size());
      } else if (exponents_) {
        const std::string text = scientific(x);
        precision_ = std::max(precision_, static_cast<int>(text.find('e') - text.find('.')) - 1);
        exponent_ = std::max(exponent_, text.size() - text.find('e') - 2);
        left_ = std::max(left_, text.find('.'));
      } else {
        const std::string text = positional(x);
        left_ = std::max(left_, text.find('.'));
        right_ = std::max(right_, text.size() - text.find('.') - 1);
      }
    }
    if (exponents_) right_ = static_cast<std::size_t>(precision_) + exponent_ + 2;
    width_ = std::max(left_ == 0 ? 0 : left_ + right_ + 1, not_finite);
  }

  std::string operator()(T x) const {
    if (!finite(x)) return padded(text_of(x), 0);
    if (!exponents_) return padded(positional(x), right_);
    std::string text = fmt::format("{:.{}e}", wide(x), precision_);
    if (precision_ == 0) text.insert(text.find('e'), ".");
    const std::size_t at = text.find('e') + 2;
    text.insert(at, exponent_ - std::min(exponent_, text.size() - at), '0');
    return padded(text, right_);
  }

  // One number that stands alone: 1.0, 1e-05.
  static std::string alone(T x) {
    if (!finite(x)) return text_of(x);
    const double a = std::abs(static_cast<double>(wide(x)));
    constexpr double limit = std::is_same_v<T, double> ? 1e16 : static_cast<double>(large);
    const decimal d = shortest_decimal(magnitude(x));
    if (a == 0 || (a >= 0.0001 && a < limit)) {
      std::string text = sign(x) + unrounded(d);
      return text.back() == '.' ? text + '0' : text;
    }
    return sign(x) + d.digits.substr(0, 1) + (d.digits.size() > 1 ? "." + d.digits.substr(1) : "") +
           fmt::format("e{}{:02}", d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
  }

 private:
  // From here on integers can no longer be told apart, or are long.
  static constexpr float large = std::is_same_v<T, double>  ? 1e8f
                                 : std::is_same_v<T, float> ? 1e6f
                                 : std::is_same_v<T, half>  ? 1e3f
                                                            : 1e2f;

  static auto wide(T x) {
    if constexpr (std::is_same_v<T, double>)
      return x;
    else
      return static_cast<float>(x);
  }
  static bool finite(T x) { return std::isfinite(wide(x)); }
  static T magnitude(T x) { return T(std::abs(wide(x))); }
  static std::string sign(T x) { return std::signbit(wide(x)) ? "-" : ""; }
  static std::string text_of(T x) { return std::isnan(wide(x)) ? "nan" : sign(x) + "inf"; }

  // All digits, with a point: 12.5, 100., 0.001
  static std::string unrounded(const decimal& d) {
    const int n = static_cast<int>(d.digits.size());
    if (d.exponent < 0) return "0." + std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
    std::string text = d.digits + std::string(static_cast<std::size_t>(std::max(0, d.exponent + 1 - n)), '0');
    return text.insert(static_cast<std::size_t>(d.exponent) + 1, ".");
  }
  static std::string positional(T x) {
    const decimal d = shortest_decimal(magnitude(x));
    if (static_cast<int>(d.digits.size()) - 1 - d.exponent <= most_digits) return sign(x) + unrounded(d);
    std::string text = fmt::format("{:.{}f}", wide(x), most_digits);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
  }
  static std::string scientific(T x) {
    const decimal d = shortest_decimal(magnitude(x));
    std::string text = fmt::format("{:.{}e}", wide(x), std::min(static_cast<int>(d.digits.size()) - 1, most_digits));
    std::size_t e = text.find('e');
    if (text.find('.') > e) text.insert(e++, ".");
    const std::size_t last = text.find_last_not_of('0', e - 1);
    return text.erase(last + 1, e - last - 1);
  }
  // Behind the point `right` characters are kept free; without a point all stands at the right.
  std::string padded(std::string text, std::size_t right) const {
    if (const std::size_t point = text.find('.'); point < text.size())
      text.append(right - std::min(right, text.size() - point - 1), ' ');
    text.insert(0, width_ - std::min(width_, text.size()), ' ');
    return text;
  }

  bool exponents_ = false;
  int precision_ = 0;
  std::size_t exponent_ = 0, left_ = 0, right_ = 0, width_ = 0;
};

// Integers and bools, flush right.
template <class T>
class integer_text {
 public:
  explicit integer_text(const std::vector<T>& all) {
    for (const T x : all) width_ = std::max(width_, alone(x).size());
  }
  std::string operator()(T x) const {
    std::string text = alone(x);
    return text.insert(0, width_ - std::min(width_, text.size()), ' ');
  }
  static std::string alone(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return x ? "True" : "False";
    else
      return std::to_string(x);
  }

 private:
  std::size_t width_ = std::is_same_v<T, bool> ? 5 : 0;
};

template <class T>
using number_text = std::conditional_t<is_floating(dtype_of<T>), float_text<T>, integer_text<T>>;

}  // namespace flowgraph::detail
