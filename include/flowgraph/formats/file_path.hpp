// What a file is called, as text. Functions take it where a std::filesystem::path could stand, and from whatever one is
// made of; <filesystem> itself costs a compiler a fifth of all of <flowgraph.hpp>.
#pragma once
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flowgraph {

namespace detail {

// std::filesystem::path, without naming it.
template <class P>
concept path_class = requires(const P& p) {
  { p.string() } -> std::convertible_to<std::string>;
  p.native();
  p.lexically_normal();
};
// std::filesystem::directory_entry.
template <class E>
concept path_entry = requires(const E& e) { requires path_class<std::remove_cvref_t<decltype(e.path())>>; };

}  // namespace detail

class file_path {
 public:
  file_path() = default;
  file_path(const char* text) : text_(text) {}
  file_path(std::string text) : text_(std::move(text)) {}
  file_path(std::string_view text) : text_(text) {}
  template <detail::path_class P>
  file_path(const P& path) : text_(path.string()) {}
  template <detail::path_entry E>
  file_path(const E& entry) : text_(entry.path().string()) {}

  const std::string& string() const { return text_; }
  const char* c_str() const { return text_.c_str(); }
  bool empty() const { return text_.empty(); }
  template <detail::path_class P>
  operator P() const {
    return P(text_);
  }

  friend bool operator==(const file_path&, const file_path&) = default;
  template <detail::path_class P>
  friend bool operator==(const file_path& a, const P& b) {
    return P(a.text_) == b;
  }
  // In quotation marks, as std::filesystem::path.
  template <class Stream>
    requires requires(Stream& out) { out.put('"'); }
  friend Stream& operator<<(Stream& out, const file_path& path) {
    out.put('"');
    for (const char c : path.text_) {
      if (c == '"' || c == '\\') out.put('\\');
      out.put(c);
    }
    out.put('"');
    return out;
  }

 private:
  std::string text_;
};

}  // namespace flowgraph
