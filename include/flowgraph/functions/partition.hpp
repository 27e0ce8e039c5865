// Rows that go different ways, by a number that each has: to one of several tables, to one of several sums.
#pragma once
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include <flowgraph/language/call_many.hpp>
#include <flowgraph/ops/partition.hpp>
#include "embedding.hpp"
#include "reduction.hpp"
#include "reshape.hpp"

namespace flowgraph {

// The rows of a tensor that belong to one part, in their order. How many there are is known only when a step runs, so
// there is room for all: behind the last one rows are zeros, and their position is -1.
template <any_tensor Rows, any_tensor Positions>
struct part {
  Rows rows;            // [n, ...]
  Positions positions;  // [n]: where each row was; int64

  // Other rows in the same places: p.with(relu(p.rows)).
  template <any_tensor Other>
  constexpr auto with(const Other& other) const {
    return part<tensor_t<Other>, Positions>{other, positions};
  }
  // How many rows there are: a scalar, int64.
  constexpr auto count(caller where = {}) const {
    return reduce_sum(cast<std::int64_t>(greater_equal(positions, 0, where), where), where);
  }
};
template <any_tensor Rows, any_tensor Positions>
part(const Rows&, const Positions&) -> part<tensor_t<Rows>, tensor_t<Positions>>;

namespace detail {

template <class T>
inline constexpr bool is_part = false;
template <class Rows, class Positions>
inline constexpr bool is_part<part<Rows, Positions>> = true;
template <class T>
concept optional_part = is_part<T> || std::is_same_v<T, absent>;

// As many leading extents become one.
template <auto E, int Leading>
struct leading_replaced {
  static constexpr extents apply(symbols& s, const extents& e) {
    extents r;
    if constexpr (std::integral<decltype(E)>)
      r.push(E);
    else
      r.push(s.intern(E.view()));
    for (int i = Leading; i < e.rank; ++i) r.push(e[i]);
    return r;
  }
};

template <class A, class B>
constexpr bool same_rows() {
  constexpr const shape_text &a = A::shape, &b = B::shape;
  return a.number[0] == b.number[0] && (a.number[0] >= 0 || a.name(0) == b.name(0));
}

template <int Part, int Parts, class X, class N>
constexpr auto take_part(source where, const X& x, const N& numbers) {
  const auto positions = call<ops::part_positions, ops::part_positions::attrs{Part, Parts}>(where, numbers);
  return part{call<ops::lookup_some>(where, x, positions), positions};
}

// What dynamic_partition gives after a mistake that the compiler has reported: a part of nothing that is known.
struct unknown_part : unknown_tensor {
  unknown_tensor rows, positions;

  constexpr explicit unknown_part(const unknown_tensor& u) : unknown_tensor(u), rows(u), positions(u) {}
  constexpr unknown_part() = default;
  template <class Other>
  constexpr unknown_part with(const Other&) const {
    return *this;
  }
  constexpr unknown_tensor count() const { return *this; }
};
template <>
inline constexpr bool is_unknown<unknown_part> = true;

template <int Parts, class... X>
constexpr auto unknown_rows(const X&... x) {
  std::array<unknown_part, (Parts < 1 ? 1 : Parts)> parts;
  parts.fill(unknown_part(unknown_among(x...)));
  return parts;
}
template <class... X>
concept not_parts_alone =
    sizeof...(X) == 0 || !((is_part<X> || std::is_base_of_v<source, X> || std::is_same_v<X, absent>)&&...);

// -1 for the places of a part that have no row.
template <class Rows, class Positions>
constexpr auto numbers_of(const part<Rows, Positions>& numbers, caller where) {
  return select(less(numbers.positions, 0, where), -1, numbers.rows, where);
}

}  // namespace detail

// auto [even, odd] = dynamic_partition<2>(x, ids % 2): the rows of x whose number is 0, and those whose number is 1. A
// number outside 0 to Parts-1 stops the step.
template <int Parts, any_tensor X, any_tensor N>
constexpr auto dynamic_partition(const X& x, const N& numbers, caller where = {}) {
  using detail::as_tensor;
  static_assert(Parts >= 1, "dynamic_partition: there must be at least 1 part");
  if constexpr (rank_v<X> == 0 || rank_v<N> != 1) {
    detail::mistake<problem::operand_rank, tensor_t<X>, tensor_t<N>>();
    return detail::unknown_rows<Parts>(x, numbers);
  } else if constexpr (!detail::same_rows<tensor_t<X>, tensor_t<N>>()) {
    detail::mistake<problem::row_numbers, tensor_t<X>, tensor_t<N>>();
    return detail::unknown_rows<Parts>(x, numbers);
  } else {
    return [&]<int... P>(std::integer_sequence<int, P...>) {
      return std::array{detail::take_part<P, Parts>(where, as_tensor(x), as_tensor(numbers))...};
    }(std::make_integer_sequence<int, Parts>{});
  }
}

// The rows of a table that a part's numbers name, as a part: nothing is looked up for places that have no row, and no
// optimizer moves what was not looked up.
template <any_tensor Table, any_tensor Rows, any_tensor Positions>
constexpr auto embedding_lookup(const Table& table, const part<Rows, Positions>& ids, caller where = {}) {
  return ids.with(detail::call<ops::lookup_some>(where, detail::as_tensor(table), detail::numbers_of(ids, where)));
}

// As dynamic_stitch, of as many rows as it says: for positions of one's own. A position that occurs twice stops the
// step.
template <auto Extent, any_tensor R, any_tensor P, detail::optional_part B = detail::absent,
          detail::optional_part C = detail::absent, detail::optional_part D = detail::absent,
          detail::optional_part E = detail::absent, detail::optional_part F = detail::absent,
          detail::optional_part G = detail::absent, detail::optional_part H = detail::absent>
constexpr auto dynamic_stitch_rows(const part<R, P>& a, const B& b = {}, const C& c = {}, const D& d = {},
                                   const E& e = {}, const F& f = {}, const G& g = {}, const H& h = {},
                                   caller where = {}) {
  using result = detail::changed<detail::leading_replaced<detail::canonical<Extent>(), rank_v<P>>, R>;
  const auto operands = [](const auto& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, detail::absent>)
      return std::tuple<>();
    else
      return std::tuple(x.positions, x.rows);
  };
  return std::apply(
      [&](const auto&... x) { return detail::call<ops::dynamic_stitch, no_attrs{}, result>(where, x...); },
      std::tuple_cat(operands(a), operands(b), operands(c), operands(d), operands(e), operands(f), operands(g),
                     operands(h)));
}
// What dynamic_partition took apart, each row where it was: dynamic_stitch(even, odd.with(relu(odd.rows))). Up to eight
// parts; where none of them has a row there are zeros.
template <any_tensor R, any_tensor P, detail::optional_part B = detail::absent,
          detail::optional_part C = detail::absent, detail::optional_part D = detail::absent,
          detail::optional_part E = detail::absent, detail::optional_part F = detail::absent,
          detail::optional_part G = detail::absent, detail::optional_part H = detail::absent>
constexpr auto dynamic_stitch(const part<R, P>& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {},
                              const F& f = {}, const G& g = {}, const H& h = {}, caller where = {}) {
  return dynamic_stitch_rows<extent_v<0, P>>(a, b, c, d, e, f, g, h, where);
}

// segment_sum<5>(x, numbers): row s is the sum of the rows of x whose number is s, in any order; of none it is 0. A
// number of -1 belongs to no segment; others outside 0 to Segments-1 stop the step.
template <auto Segments, any_tensor X, any_tensor N>
constexpr auto segment_sum(const X& x, const N& numbers, caller where = {}) {
  if constexpr (rank_v<X> < rank_v<N> || rank_v<N> == 0) {
    detail::mistake<problem::row_numbers, tensor_t<X>, tensor_t<N>>();
    return detail::as_tensor(x);
  } else {
    using result = detail::changed<detail::leading_replaced<detail::canonical<Segments>(), rank_v<N>>, tensor_t<X>>;
    return detail::call<ops::segment_sum, no_attrs{}, result>(where, detail::as_tensor(numbers), detail::as_tensor(x));
  }
}
// Of a part and the numbers of its rows.
template <auto Segments, any_tensor R, any_tensor P, any_tensor N>
constexpr auto segment_sum(const part<R, P>& x, const part<N, P>& numbers, caller where = {}) {
  return segment_sum<Segments>(x.rows, detail::numbers_of(numbers, where), where);
}

// Calls that fit none of these.
template <auto... Stated, class... X>
  requires((sizeof...(Stated) != 1 || sizeof...(X) > 3 || detail::not_two_tensors_first<X...>) &&
           detail::about_tensors<X...>)
constexpr auto dynamic_partition(const X&... x) {
  if constexpr (!(detail::is_unknown<X> || ...))
    static_assert(
        detail::given<X...>,
        "dynamic_partition takes the number of parts as a template argument, a tensor and the part of each of its rows, "
        "as in dynamic_partition<2>(x, ids % 2)");
  return detail::unknown_rows<2>(x...);
}
FLOWGRAPH_MISUSE_IF(dynamic_stitch, detail::not_parts_alone<X...>,
                    "dynamic_stitch takes parts one by one, as in dynamic_stitch(even, odd.with(relu(odd.rows)))")
FLOWGRAPH_MISUSE_IF(
    dynamic_stitch_rows, sizeof...(Stated) != 1 || detail::not_parts_alone<X...>,
    "dynamic_stitch_rows takes the number of rows as a template argument and parts one by one, as in dynamic_stitch_rows<10>(a, b)")
FLOWGRAPH_MISUSE_IF(
    segment_sum,
    sizeof...(Stated) != 1 || sizeof...(X) > 3 ||
        (detail::not_two_tensors_first<X...> && !(sizeof...(X) > 1 && !detail::not_parts_alone<X...>)),
    "segment_sum takes the number of segments as a template argument, a tensor and the segment of each of its rows, as in segment_sum<5>(x, ids)")

}  // namespace flowgraph
