// Messages put together from words and numbers. Not fmt, which checks every format where it is read and makes code for
// every list of arguments: what most programs never say would take their compilers a tenth of the time.
#pragma once
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace flowgraph::detail {

// One piece, while the text is made.
class word {
 public:
  word(std::string_view s) : text_(s) {}
  word(const std::string& s) : text_(s) {}
  word(const char* s) : text_(s) {}
  template <std::signed_integral I>
  word(I n) {
    set(static_cast<std::int64_t>(n));
  }
  template <std::unsigned_integral I>
  word(I n) {
    set(static_cast<std::int64_t>(n));  // counts, which are never that large
  }
  word(const word&) = delete;
  word& operator=(const word&) = delete;

  std::string_view text() const { return text_; }

 private:
  void set(std::int64_t n) {
    char* at = digits_ + sizeof digits_;
    const bool negative = n < 0;
    auto rest = negative ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    do *--at = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (negative) *--at = '-';
    text_ = {at, static_cast<std::size_t>(digits_ + sizeof digits_ - at)};
  }

  std::string_view text_;
  char digits_[20];
};

inline std::string text_from(std::initializer_list<word> words) {
  std::string all;
  for (const word& w : words) all += w.text();
  return all;
}

// As printf("%.6g"), in every locale.
inline std::string six_digits(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x, std::chars_format::general, 6).ptr);
}
// With so many digits behind the point, as printf("%.1f").
inline std::string fixed_digits(double x, int digits) {
  char text[400];
  return std::string(text, std::to_chars(text, text + sizeof text, x, std::chars_format::fixed, digits).ptr);
}
// At the right end of so many places.
inline std::string to_right(const word& w, std::size_t places) {
  const std::size_t n = w.text().size();
  return std::string(n < places ? places - n : 0, ' ').append(w.text());
}

}  // namespace flowgraph::detail
