// Floating-point numbers from text, whatever the locale. Apart because libc++ lacks std::from_chars for some of them.
#pragma once
#include <charconv>
#include <cstddef>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <version>

namespace flowgraph::detail {

// How much of the text, from its beginning, is a number as std::from_chars reads it; 0 if none is.
inline std::size_t length_of_real(std::string_view text) {
  const auto digits = [&](std::size_t from) {
    const std::size_t end = text.find_first_not_of("0123456789", from);
    return (end == text.npos ? text.size() : end) - from;
  };
  std::size_t at = text.starts_with('-');
  const std::size_t whole = digits(at);
  at += whole;
  std::size_t part = 0;
  if (at < text.size() && text[at] == '.') {
    part = digits(at + 1);
    if (whole + part > 0) at += 1 + part;
  }
  if (whole + part == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t sign = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+');
    if (const std::size_t exponent = digits(at + 1 + sign); exponent > 0) at += 1 + sign + exponent;
  }
  return at;
}

// inf, infinity and nan, in whatever case: how long the word is, after its sign.
inline std::size_t length_of_special(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return 0;
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((text[i] | 0x20) != word[i]) return 0;
  return word.size();
}

// std::from_chars(first, last, to) by a stream.
template <class T>
std::from_chars_result real_by_stream(const char* first, const char* last, T& to) {
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  const std::size_t sign = text.starts_with('-');
  for (const std::string_view word : {"infinity", "inf", "nan"})
    if (const std::size_t length = length_of_special(text.substr(sign), word); length > 0) {
      const T value = word == "nan" ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      to = sign ? -value : value;
      return {first + sign + length, {}};
    }
  const std::size_t length = length_of_real(text);
  if (length == 0) return {first, std::errc::invalid_argument};
  std::istringstream in{std::string(text.substr(0, length))};
  in.imbue(std::locale::classic());
  T value = 0;
  in >> value;
  if (in.fail()) return {first + length, std::errc::result_out_of_range};
  to = value;
  return {first + length, {}};
}

template <class T>
std::from_chars_result read_real(const char* first, const char* last, T& to) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(first, last, to);
#else
  return real_by_stream(first, last, to);
#endif
}

}  // namespace flowgraph::detail
