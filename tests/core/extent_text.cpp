// Floor divisions of named extents: one text for every way to write the same extent.
#include <flowgraph/core/dim.hpp>

namespace fg = flowgraph;

namespace {

constexpr bool reads_as(std::string_view written, std::string_view canonical) {
  const fg::detail::extent_polynomial p(written);
  return p.ok() && p.text().view() == canonical;
}

static_assert(reads_as("(h+1)/2", "(h+1)/2"));
static_assert(reads_as("(2*h+1)/2", "h"));
static_assert(reads_as("(2*h-1)/2", "h-1"));
static_assert(reads_as("(4*h+w+3)/2", "(w+1)/2+2*h+1"));
static_assert(reads_as("(h-1)/2+1", "(h+1)/2"));
static_assert(reads_as("(2*h+3)/4", "(h+1)/2"));
static_assert(reads_as("((h+1)/2+1)/2", "(h+3)/4"));
static_assert(reads_as("((h)/2)/2", "(h)/4"));
static_assert(reads_as("3*(2*h+w)/2", "3*(w)/2+3*h"));
static_assert(reads_as("(3)/2", "1"));
static_assert(reads_as("h*(1)/2+w", "w"));
static_assert(!fg::detail::extent_polynomial("(h").ok() && !fg::detail::extent_polynomial("(h)/0").ok());

// The text stands for the number that the formula gives.
constexpr bool same_numbers(std::int64_t a, std::int64_t b, std::int64_t n) {
  fg::detail::extent_polynomial p(std::int64_t{b});
  p.add(fg::detail::extent_polynomial(a).times(fg::detail::extent_polynomial("h")), 1);
  const auto divided = p.floor_divided(n).floor_divided(2).text();
  for (std::int64_t h = 8; h < 10; ++h) {
    const auto value = fg::detail::evaluate_extent(divided.view(), [h](std::string_view) { return h; });
    if (value != (a * h + b) / n / 2) return false;
  }
  return true;
}
constexpr bool same_numbers(std::int64_t n) {
  for (std::int64_t a = 1; a < 5; ++a)
    for (std::int64_t b = -3; b < 4; b += 2)
      if (!same_numbers(a, b, n)) return false;
  return true;
}
static_assert(same_numbers(2) && same_numbers(3));

}  // namespace
