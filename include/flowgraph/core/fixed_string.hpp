// A string as a template argument. Its array has exactly the text's length, so that g++ and clang both print it
// as text in a diagnostic.
#pragma once
#include <cstddef>
#include <string_view>

namespace flowgraph {

template <std::size_t N>
struct fixed_string {
  char text[N]{};

  constexpr fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
  constexpr bool operator==(const fixed_string&) const = default;
};

namespace detail {

// The first Length characters of a text whose length is a constant.
template <std::size_t Length>
constexpr fixed_string<Length + 1> to_fixed(std::string_view s) {
  char copy[Length + 1]{};
  for (std::size_t i = 0; i < Length; ++i) copy[i] = s[i];
  return fixed_string<Length + 1>(copy);
}

}  // namespace detail
}  // namespace flowgraph
