// Named extents as template arguments: `inline constexpr fg::dim batch{"batch"};`, then
// fg::tensor<float, batch, 64>. A dim's array has exactly its text's length, so that compilers print the text.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "extent_text.hpp"

namespace flowgraph {

// A number for a named extent, for asking a model's facts: peak_bytes(batch(32)).
struct binding {
  std::string_view name;
  std::int64_t value;
};

template <std::size_t N>
struct dim {
  char name[N]{};

  // A name (letters, digits, underscores), or a sum of products of names: "2*batch", "time-1".
  consteval dim(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) name[i] = text[i];
    if (!detail::extent_polynomial(view()).ok())
      throw "fg::dim: a name is made of letters, digits and underscores; a derived extent of +, -, * between names";
  }
  constexpr std::string_view view() const { return {name, N - 1}; }
  constexpr bool operator==(const dim&) const = default;
  constexpr binding operator()(std::int64_t value) const { return {view(), value}; }
};

// What 2 * batch or time - 1 gives. A tensor's type holds the exact-length dim of the same text.
struct derived_dim {
  detail::extent_text text;
};

template <class T>
inline constexpr bool is_dim = false;
template <std::size_t N>
inline constexpr bool is_dim<dim<N>> = true;

// An integer, a named extent, or arithmetic on named extents: what may stand in a shape.
template <class T>
concept extent_argument = (std::integral<T> && !std::same_as<T, bool>) || is_dim<T> || std::same_as<T, derived_dim>;

namespace detail {

template <extent_argument E>
constexpr extent_polynomial polynomial_of(const E& e) {
  if constexpr (std::integral<E>)
    return extent_polynomial(static_cast<std::int64_t>(e));
  else if constexpr (is_dim<E>)
    return extent_polynomial(e.view());
  else
    return extent_polynomial(e.text.view());
}

template <class A, class B>
concept one_named = extent_argument<A> && extent_argument<B> && !(std::integral<A> && std::integral<B>);

}  // namespace detail

template <class A, class B>
  requires detail::one_named<A, B>
constexpr derived_dim operator*(const A& a, const B& b) {
  return {detail::polynomial_of(a).times(detail::polynomial_of(b)).text()};
}
template <class A, class B>
  requires detail::one_named<A, B>
constexpr derived_dim operator+(const A& a, const B& b) {
  auto sum = detail::polynomial_of(a);
  sum.add(detail::polynomial_of(b), 1);
  return {sum.text()};
}
template <class A, class B>
  requires detail::one_named<A, B>
constexpr derived_dim operator-(const A& a, const B& b) {
  auto difference = detail::polynomial_of(a);
  difference.add(detail::polynomial_of(b), -1);
  return {difference.text()};
}
// Rounds down.
template <class A>
  requires(!std::integral<A> && extent_argument<A>)
constexpr derived_dim operator/(const A& a, std::int64_t n) {
  return {detail::polynomial_of(a).floor_divided(n).text()};
}

namespace detail {

// The one spelling of an extent in a tensor's type: an int, as a literal is, so that the type a user writes is the
// type the library deduces; or the dim of the canonical text.
template <auto E>
consteval auto canonical() {
  if constexpr (!extent_argument<std::remove_cvref_t<decltype(E)>>) {
    static_assert(
        extent_argument<std::remove_cvref_t<decltype(E)>>,
        "an extent is a number, or a named extent, as batch is after inline constexpr fg::dim batch{\"batch\"}");
    return 1;
  } else if constexpr (std::integral<decltype(E)>) {
    constexpr bool in_range = E >= 0 && static_cast<std::uint64_t>(E) < (1ull << 31);
    static_assert(in_range,
                  "an extent must be between 0 and 2^31-1; one that only feeds tell has a name, as batch has after "
                  "inline constexpr fg::dim batch{\"batch\"}");
    return in_range ? static_cast<int>(E) : 1;
  } else {
    constexpr extent_text text = polynomial_of(E).text();
    static_assert(!text.too_long && polynomial_of(E).ok(),
                  "the text of an extent must not be longer than 95 characters");
    char copy[static_cast<std::size_t>(text.length) + 1]{};
    for (int i = 0; i < text.length; ++i) copy[i] = text.chars[i];
    return dim<static_cast<std::size_t>(text.length) + 1>(copy);
  }
}

}  // namespace detail
}  // namespace flowgraph
