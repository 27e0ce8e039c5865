// A view of characters in a table. Apart, because of what it keeps out: given a pointer or a length of any other type,
// std::string_view's constructor for iterators is a candidate too, and the compiler looks into all that an iterator
// must be able to do. That is a fortieth of the time that a file of models takes to parse.
#pragma once
#include <cstddef>
#include <string_view>

namespace flowgraph::detail {

constexpr std::string_view text_view(const char* first, int length) {
  return {first, static_cast<std::size_t>(length)};
}

// Of a literal. std::string_view's own way to count its characters is a loop in constant expressions.
constexpr std::string_view text_view(const char* literal) { return {literal, __builtin_strlen(literal)}; }

}  // namespace flowgraph::detail
