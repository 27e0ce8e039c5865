// How a variable begins. The number of inputs and outputs that the Glorot, He and LeCun schemes need are the
// variable's last two extents times what lies before them (the window of a convolution's filter).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/symbols.hpp>
#include <flowgraph/ops/sources.hpp>

namespace flowgraph {

enum class initializer : std::int64_t {
  constant,
  uniform,
  normal,
  truncated_normal,
  glorot_uniform,
  glorot_normal,
  he_uniform,
  he_normal,
  lecun_uniform,
  lecun_normal,
  orthogonal,
  identity,
  values
};

struct initial_value {
  initializer kind = initializer::constant;
  double a = 0;  // constant: the value; uniform: the lower bound; normal: the mean; orthogonal, identity: the factor
  double b = 0;  // constant: what an integer is more than a; uniform: the upper bound; normal: the standard deviation
};

namespace detail {

// Numbers one by one: C arrays and std::array, also nested; fg::ndarray and fg::ndview; std::vector and std::span.
template <class D>
constexpr auto listed_type() {
  if constexpr (element<D>)
    return std::type_identity<D>{};
  else if constexpr (std::is_array_v<D>)
    return listed_type<std::remove_cv_t<std::remove_extent_t<D>>>();
  else if constexpr (
      requires { std::tuple_size<D>::value; } || requires { requires element<typename D::value_type>; })
    return listed_type<typename D::value_type>();
  else
    return std::type_identity<void>{};
}
template <class D>
using listed_t = typename decltype(listed_type<D>())::type;

template <class D>
concept listed_numbers = !element<D> && element<listed_t<D>>;

// f(number) for each, row by row.
template <class D, class F>
constexpr void each_number(const D& data, F& f) {
  if constexpr (element<D>) {
    f(data);
  } else {
    for (const auto& row : data) each_number(row, f);
  }
}

template <class D>
constexpr vec<std::int64_t> literal_words(const D& data) {
  vec<std::int64_t> words;
  auto push = [&words](auto x) { words.push(ops::literal_word(x)); };
  each_number(data, push);
  return words;
}

// The extents that data itself has: rows of rows, and arrays. Rank -1: a flat run of numbers, which fits any shape.
template <class D>
constexpr extents listed_extents(const D& data) {
  extents e;
  if constexpr (requires { data.dims(); }) {
    for (const std::int64_t n : data.dims()) e.push(n);
  } else if constexpr (requires { data[0][0]; }) {
    const extents inner = listed_extents(data[0]);
    e.push(static_cast<std::int64_t>(std::size(data)));
    if (inner.rank < 0) e.push(static_cast<std::int64_t>(std::size(data[0])));
    for (int i = 0; i < inner.rank; ++i) e.push(inner[i]);
  } else {
    e.rank = -1;
  }
  return e;
}

// Data is const D& where it has a name, and D where it was moved in.
template <class D, class Data = const D&>
struct initial_array {
  Data data;
};

// What is wrong with an initial value for a variable of this type and shape.
constexpr problem check_initial(const initial_value& v, dtype type, int rank) {
  switch (v.kind) {
    case initializer::constant:
    case initializer::values:
      return problem::none;
    case initializer::identity:
      return rank == 2 ? problem::none : problem::initial_shape;
    case initializer::uniform:
      if (type == dtype::boolean) return problem::initial_type;
      return v.a < v.b ? problem::none : problem::initial_range;  // neither NaN
    default:
      break;
  }
  if (!is_floating(type)) return problem::initial_type;
  if (v.kind == initializer::orthogonal && rank < 2) return problem::initial_shape;
  if (v.kind == initializer::normal || v.kind == initializer::truncated_normal)
    return v.b >= 0 && v.a == v.a ? problem::none : problem::initial_range;
  return problem::none;
}

}  // namespace detail

namespace init {

// An integer is exact in any integer type, also beyond 2^53.
template <class N>
  requires std::is_arithmetic_v<N>
constexpr initial_value constant(N value) {
  const double nearest = static_cast<double>(value);
  if constexpr (!std::is_integral_v<N> || sizeof(N) < 8) {
    return {initializer::constant, nearest, 0};
  } else {
    const auto whole = static_cast<std::uint64_t>(ops::number_word<std::int64_t>(value));
    const double at = value < N{} ? nearest : static_cast<double>(whole);
    const auto rounded =
        at < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(at)) : static_cast<std::uint64_t>(at);
    return {initializer::constant, at, static_cast<double>(static_cast<std::int64_t>(whole - rounded))};
  }
}
constexpr initial_value zeros() { return constant(0); }
constexpr initial_value ones() { return constant(1); }
// In [low, high).
constexpr initial_value uniform(double low, double high) { return {initializer::uniform, low, high}; }
constexpr initial_value normal(double mean, double deviation) { return {initializer::normal, mean, deviation}; }
// As normal, drawn again where it lies more than two deviations from the mean.
constexpr initial_value truncated_normal(double mean, double deviation) {
  return {initializer::truncated_normal, mean, deviation};
}
constexpr initial_value glorot_uniform() { return {initializer::glorot_uniform, 0, 0}; }
constexpr initial_value glorot_normal() { return {initializer::glorot_normal, 0, 0}; }
constexpr initial_value he_uniform() { return {initializer::he_uniform, 0, 0}; }
constexpr initial_value he_normal() { return {initializer::he_normal, 0, 0}; }
constexpr initial_value lecun_uniform() { return {initializer::lecun_uniform, 0, 0}; }
constexpr initial_value lecun_normal() { return {initializer::lecun_normal, 0, 0}; }
// gain * Q of the QR decomposition of normal numbers, with a positive diagonal of R, so that Q is uniform among
// orthogonal matrices. Of more than two axes the last are the columns, all others the rows; of the shorter side all are
// orthogonal.
constexpr initial_value orthogonal(double gain = 1) { return {initializer::orthogonal, gain, 0}; }
// Of a matrix, square or not.
constexpr initial_value identity(double gain = 1) { return {initializer::identity, gain, 0}; }
// These numbers: fg::ndarray, std::vector, C arrays. In a constexpr model, of a constexpr array.
template <detail::listed_numbers D>
constexpr detail::initial_array<D> from(const D& data) {
  return {data};
}
template <class D>
  requires(detail::listed_numbers<D> && !std::is_reference_v<D> && !std::is_const_v<D> && !std::is_array_v<D>)
constexpr detail::initial_array<D, D> from(D&& data) {
  return {static_cast<D&&>(data)};
}

}  // namespace init
}  // namespace flowgraph
