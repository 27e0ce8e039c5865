// Joining tensors and taking them apart.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <tuple>

#include <flowgraph/language/call_many.hpp>
#include <flowgraph/ops/concat.hpp>
#include "reshape.hpp"

namespace flowgraph {

// Along an axis that is there already: up to eight tensors, equal in every other extent.
template <int Axis, any_tensor A, detail::optional_tensor B = detail::absent,
          detail::optional_tensor C = detail::absent, detail::optional_tensor D = detail::absent,
          detail::optional_tensor E = detail::absent, detail::optional_tensor F = detail::absent,
          detail::optional_tensor G = detail::absent, detail::optional_tensor H = detail::absent>
constexpr auto concat(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {}, const F& f = {},
                      const G& g = {}, const H& h = {}, caller where = {}) {
  constexpr ops::concat::attrs attributes{detail::axis_of<tensor_t<A>, Axis>()};
  return detail::with_present([&](auto... x) { return detail::call<ops::concat, attributes>(where, x...); }, a, b, c, d,
                              e, f, g, h);
}

// Along a new axis at this place of the result: up to eight tensors of one shape.
template <int Axis, any_tensor A, detail::optional_tensor B = detail::absent,
          detail::optional_tensor C = detail::absent, detail::optional_tensor D = detail::absent,
          detail::optional_tensor E = detail::absent, detail::optional_tensor F = detail::absent,
          detail::optional_tensor G = detail::absent, detail::optional_tensor H = detail::absent>
constexpr auto stack(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {}, const F& f = {},
                     const G& g = {}, const H& h = {}, caller where = {}) {
  return detail::with_present(
      [&](auto first, auto... rest) {
        if constexpr (!(std::is_same_v<decltype(first), decltype(rest)> && ...)) {
          detail::mistake<problem::same_shape, decltype(first), decltype(rest)...>();
          return expand_dims<Axis>(first, where);
        } else {
          return detail::call<ops::concat, ops::concat::attrs{Axis < 0 ? Axis + rank_v<A> + 1 : Axis}>(
              where, expand_dims<Axis>(first, where), expand_dims<Axis>(rest, where)...);
        }
      },
      a, b, c, d, e, f, g, h);
}

namespace detail {

// As many parts of the axis as there are sizes, eight of them to a node: more are split again.
template <int Axis, std::int64_t... Sizes, class T>
constexpr auto split_by(source where, T x) {
  constexpr std::size_t parts = sizeof...(Sizes), most = inference::max_outputs;
  constexpr std::array<std::int64_t, parts> sizes{Sizes...};
  if constexpr (parts == 1) {
    return std::tuple<T>(x);
  } else if constexpr (parts <= most) {
    return call_many<ops::split, ops::split::attrs{Axis, parts, {Sizes...}}>(where, x);
  } else {
    constexpr std::size_t group = (parts + most - 1) / most;  // parts behind each result of this node
    constexpr std::size_t groups = (parts + group - 1) / group;
    constexpr auto end_of = [](std::size_t k) { return (k + 1) * group < parts ? (k + 1) * group : parts; };
    constexpr auto total = [=](std::size_t k) {
      std::int64_t n = 0;
      for (std::size_t i = k * group; i < end_of(k); ++i) n += sizes[i];
      return n;
    };
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      const auto outer = split_by<Axis, total(K)...>(where, x);
      const auto inner = [&]<std::size_t First, std::size_t... I>(const auto& part, std::index_sequence<First>,
                                                                  std::index_sequence<I...>) {
        return split_by<Axis, sizes[First + I]...>(where, part);
      };
      return std::tuple_cat(inner(std::get<K>(outer), std::index_sequence<K * group>{},
                                  std::make_index_sequence<end_of(K) - K * group>{})...);
    }(std::make_index_sequence<groups>{});
  }
}

inline constexpr std::int64_t no_axis = -2;

// The number that axis A of T has: -1 for a name, no_axis where there is no such axis.
template <class T, int A>
constexpr std::int64_t static_extent() {
  if constexpr (A < -T::rank || A >= T::rank)
    return no_axis;
  else
    return T::shape.number[A < 0 ? A + T::rank : A];
}

template <class Tuple>
constexpr auto tuple_to_array(const Tuple& t) {
  return std::apply([](const auto&... x) { return std::array{x...}; }, t);
}

}  // namespace detail

// auto [q, k, v] = split<-1, 3>(x): equal parts along an axis whose extent is a number.
template <int Axis, int Parts, any_tensor T>
constexpr auto split(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  constexpr std::int64_t along = detail::static_extent<tensor_t<T>, Axis>();
  if constexpr (along == detail::no_axis) {
    return detail::unknown_array<1>(x);
  } else if constexpr (Parts < 1 || along < 0 || along % (Parts < 1 ? 1 : Parts) != 0) {
    detail::mistake<problem::split_extent, axes<Axis>, tensor_t<T>>();
    return detail::unknown_array<(Parts < 1 ? 1 : Parts)>(x);
  } else {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return detail::tuple_to_array(detail::split_by<axis, along / Parts + 0 * I...>(where, detail::as_tensor(x)));
    }(std::make_integer_sequence<int, Parts>{});
  }
}

// auto [head, tail] = split_sizes<0, 1, 7>(x): parts of these extents, which add up to the axis.
template <int Axis, std::int64_t... Sizes, any_tensor T>
  requires(sizeof...(Sizes) > 0)
constexpr auto split_sizes(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  constexpr std::int64_t along = detail::static_extent<tensor_t<T>, Axis>();
  if constexpr (along == detail::no_axis || ((Sizes < 0) || ...) || (0 + ... + Sizes) != along) {
    if constexpr (along != detail::no_axis) detail::mistake<problem::split_extent, axes<Sizes...>, tensor_t<T>>();
    return std::tuple{(static_cast<void>(Sizes), detail::as_tensor(x))...};
  } else {
    return detail::split_by<axis, Sizes...>(where, detail::as_tensor(x));
  }
}

// One tensor for each index of an axis, without that axis.
template <int Axis, any_tensor T>
constexpr auto unstack(const T& x, caller where = {}) {
  constexpr int axis = detail::axis_of<tensor_t<T>, Axis>();
  constexpr std::int64_t along = detail::static_extent<tensor_t<T>, Axis>();
  if constexpr (along < 1) {
    if constexpr (along != detail::no_axis) detail::mistake<problem::needs_number, axes<Axis>, tensor_t<T>>();
    return detail::unknown_array<1>(x);
  } else {
    return std::apply([&](const auto&... part) { return std::array{squeeze<axis>(part, where)...}; },
                      split<axis, static_cast<int>(along)>(x, where));
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_IF(concat, sizeof...(Stated) != 1 || detail::not_tensors_alone<X...>,
                    "concat takes an axis as a template argument and its tensors one by one, as in concat<1>(a, b)")
template <auto... Stated, class T, class... More>
constexpr auto concat(std::initializer_list<T> list, const More&...) {
  static_assert(detail::given<T>, "concat takes its tensors one by one, without braces, as in concat<1>(a, b)");
  return list.size() ? detail::unknown_among(*list.begin()) : unknown_tensor{};
}
FLOWGRAPH_MISUSE_IF(stack, sizeof...(Stated) != 1 || detail::not_tensors_alone<X...>,
                    "stack takes an axis as a template argument and its tensors one by one, as in stack<1>(a, b)")
template <auto... Stated, class T, class... More>
constexpr auto stack(std::initializer_list<T> list, const More&...) {
  static_assert(detail::given<T>, "stack takes its tensors one by one, without braces, as in stack<1>(a, b)");
  return list.size() ? detail::unknown_among(*list.begin()) : unknown_tensor{};
}
FLOWGRAPH_MISUSE_BEYOND(
    split, 2, sizeof...(Stated) != 2 || detail::no_tensor_first<X...>,
    "split takes an axis and the number of parts as template arguments and a tensor, as in split<1, 3>(x)")
FLOWGRAPH_MISUSE_BEYOND(
    split_sizes, 2, sizeof...(Stated) < 2 || detail::no_tensor_first<X...>,
    "split_sizes takes an axis and the parts' extents as template arguments and a tensor, as in split_sizes<1, 3, 5>(x)")
FLOWGRAPH_MISUSE_BEYOND(unstack, 2, sizeof...(Stated) != 1 || detail::no_tensor_first<X...>,
                        "unstack takes an axis as a template argument and a tensor, as in unstack<0>(x)")

}  // namespace flowgraph
