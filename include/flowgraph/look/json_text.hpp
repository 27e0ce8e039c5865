// JSON, written as it comes: traces and pages are only ever written here, so that no document is built for them.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace flowgraph::detail {

// Values one after another, with commas where they belong. Calls nest as the text does:
//   w.object([&] { w.field("a", 1); w.field("b", [&] { w.array([&] { w.value("x"); }); }); });
class json_text {
 public:
  const std::string& text() const& { return out_; }
  std::string text() && { return std::move(out_); }

  template <class Body>
  void object(const Body& body) {
    nest('{', '}', body);
  }
  template <class Body>
  void array(const Body& body) {
    nest('[', ']', body);
  }
  template <class T>
  void field(std::string_view name, const T& x) {
    value(name);
    out_ += ':';
    fresh_ = true;
    if constexpr (std::invocable<const T&>)
      x();
    else
      value(x);
  }

  // Text that is not UTF-8 becomes '?', so that whatever a user names a node, the file can be read. '<' is escaped,
  // because a page has this text within an element.
  void value(std::string_view s) {
    separate();
    out_ += '"';
    for (std::size_t i = 0; i < s.size(); ++i) {
      const auto c = static_cast<unsigned char>(s[i]);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += s[i];
      } else if (c < 0x20 || c == 0x7F || c == '<') {
        out_ += fmt::format("\\u{:04x}", c);
      } else if (c < 0x80) {
        out_ += s[i];
      } else if (const std::size_t n = utf8_length(s.substr(i)); n > 0) {
        out_ += s.substr(i, n);
        i += n - 1;
      } else {
        out_ += '?';
      }
    }
    out_ += '"';
  }
  void value(const char* s) { value(std::string_view(s)); }
  void value(bool b) {
    separate();
    out_ += b ? "true" : "false";
  }
  template <std::integral I>
  void value(I number) {
    separate();
    out_ += fmt::format("{}", number);
  }
  // Nanoseconds as microseconds, exactly.
  void microseconds(std::int64_t nanoseconds) {
    separate();
    out_ += fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }

 private:
  template <class Body>
  void nest(char open, char close, const Body& body) {
    separate();
    out_ += open;
    fresh_ = true;
    body();
    out_ += close;
    fresh_ = false;
  }
  void separate() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }

  // Bytes of the character that s begins with, by the ranges of RFC 3629; 0: it is none.
  static std::size_t utf8_length(std::string_view s) {
    const auto byte = [s](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
      return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF)
      return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    if (first >= 0xF0 && first <= 0xF4)
      return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
    return 0;
  }

  std::string out_;
  bool fresh_ = true;  // nothing before the next value that a comma would part it from
};

}  // namespace flowgraph::detail
