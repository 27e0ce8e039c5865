// Parts of tensors, and tensors set into larger ones or repeated.
#pragma once
#include <cstdint>

#include <flowgraph/ops/slice.hpp>
#include <flowgraph/ops/tile.hpp>
#include "reshape.hpp"

namespace flowgraph {

// Positions, one for each axis: where a slice begins, where it ends, and by what step it goes.
template <std::int64_t... Begins>
struct from {};
template <std::int64_t... Ends>
struct to {};
template <std::int64_t... Strides>
struct by {};

// Of an axis: from its start to its end, or from its end to its start where the stride is negative.
inline constexpr std::int64_t edge = ops::axis_edge;

namespace detail {

template <class Positions>
struct position_list;
template <template <std::int64_t...> class List, std::int64_t... P>
struct position_list<List<P...>> {
  static constexpr int count = static_cast<int>(sizeof...(P));
  static constexpr void copy(std::int64_t* out) {
    int i = 0;
    ((i < max_rank ? static_cast<void>(out[i++] = P) : void()), ...);
  }
};

template <class From>
constexpr ops::box_attrs box_from() {
  ops::box_attrs a{};
  position_list<From>::copy(a.begin);
  return a;
}

template <class From, class To, class By>
constexpr ops::stride_attrs strides_from() {
  ops::stride_attrs a{};
  position_list<From>::copy(a.begin);
  position_list<To>::copy(a.end);
  position_list<By>::copy(a.stride);
  return a;
}

template <int... P>
struct padded {
  static constexpr extents apply(symbols& s, const extents& e) {
    constexpr int paddings[] = {P..., 0};
    extents r = e;
    for (int i = 0; i < r.rank; ++i) r[i] = s.add(r[i], paddings[2 * i] + paddings[2 * i + 1]);
    return r;
  }
};

}  // namespace detail

// slice<from<1, 0>, 2, 3>(x): a box of the extents 2, 3 that begins at row 1, column 0. With named extents:
// slice<from<0, 1>, batch, time - 1>(x).
template <class From, auto... E, any_tensor T>
constexpr auto slice(const T& x, caller where = {}) {
  using result = tensor<element_t<T>, detail::canonical<E>()...>;
  if constexpr (detail::position_list<From>::count != rank_v<T> || result::rank != rank_v<T>) {
    detail::mistake<problem::slice_bounds, tensor_t<T>, From, required<result>>();
    return result{x.graph, x.id};
  } else {
    return detail::call<ops::slice, detail::box_from<From>(), result>(where, detail::as_tensor(x));
  }
}

// Python's x[begin:end:stride] on every axis: strided_slice<from<edge, 4>, to<edge, 0>, by<2, -1>>(x).
template <class From, class To, class By, any_tensor T>
constexpr auto strided_slice(const T& x, caller where = {}) {
  if constexpr (detail::position_list<From>::count != rank_v<T> || detail::position_list<To>::count != rank_v<T> ||
                detail::position_list<By>::count != rank_v<T>) {
    detail::mistake<problem::slice_bounds, tensor_t<T>, From, To, By>();
    return detail::as_tensor(x);
  } else {
    return detail::call<ops::strided_slice, detail::strides_from<From, To, By>()>(where, detail::as_tensor(x));
  }
}

// pad<1, 2, 0, 0>(x, value): one element before and two behind along axis 0, none along axis 1.
template <int... Paddings, any_tensor T, number N = int>
constexpr auto pad(const T& x, N value = {}, caller where = {}) {
  if constexpr (sizeof...(Paddings) != 2 * rank_v<T> || ((Paddings < 0) || ...)) {
    detail::mistake<problem::pad_rank, axes<Paddings...>, tensor_t<T>>();
    return detail::as_tensor(x);
  } else {
    if constexpr (!floating_tensor<T> && is_floating(detail::dtype_of<N>))
      detail::mistake<problem::literal_does_not_fit, tensor_t<T>, N>();
    using result = detail::changed<detail::padded<Paddings...>, tensor_t<T>>;
    constexpr int paddings[] = {Paddings..., 0};
    ops::pad::attrs attributes{};
    for (int i = 0; i < rank_v<T>; ++i) attributes.begin[i] = paddings[2 * i];
    attributes.value = ops::number_word<element_t<T>>(value);
    return detail::call_with<ops::pad, result>(where, attributes, detail::as_tensor(x));
  }
}

// tile<2, 1>(x): axis 0 twice, axis 1 once.
template <int... Counts, any_tensor T>
constexpr auto tile(const T& x, caller where = {}) {
  if constexpr (sizeof...(Counts) != rank_v<T> || ((Counts < 1) || ...)) {
    detail::mistake<problem::tile_rank, axes<Counts...>, tensor_t<T>>();
    return detail::as_tensor(x);
  } else {
    return detail::call<ops::tile, ops::tile::attrs{{Counts...}}>(where, detail::as_tensor(x));
  }
}

// Backwards along these axes.
template <int... Axes, any_tensor T>
  requires(sizeof...(Axes) > 0)
constexpr auto reverse(const T& x, caller where = {}) {
  constexpr ops::reverse::attrs attributes{detail::axis_mask<tensor_t<T>, Axes...>()};
  return detail::call<ops::reverse, attributes>(where, detail::as_tensor(x));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(pad, 3, no_tensor_first,
                 "pad takes the paddings as template arguments and a tensor, as in pad<1, 1, 0, 0>(x)")
FLOWGRAPH_MISUSE(tile, 2, no_tensor_first,
                 "tile takes the counts as template arguments and a tensor, as in tile<2, 1>(x)")
FLOWGRAPH_MISUSE_OF_BRACES(tile, "tile takes the counts as template arguments, as in tile<2, 1>(x)")
FLOWGRAPH_MISUSE_BEYOND(reverse, 2, sizeof...(Stated) == 0 || detail::no_tensor_first<X...>,
                        "reverse takes axes as template arguments and a tensor, as in reverse<1>(x)")
template <detail::nothing_stated = detail::nothing_stated{}, class... X>
  requires detail::about_tensors<X...>
constexpr auto slice(const X&... x) {
  if constexpr (!(detail::is_unknown<X> || ...))
    static_assert(
        detail::given<X...>,
        "slice takes where it begins and its extents as template arguments, as in slice<fg::from<1, 0>, 2, 3>(x)");
  return detail::unknown_among(x...);
}
template <class From, auto... E, class X>
  requires(!any_tensor<X>)
constexpr auto slice(const X& x) {
  if constexpr (!detail::is_unknown<X>)
    static_assert(detail::given<X>, "slice takes a tensor, as in slice<fg::from<1, 0>, 2, 3>(x)");
  return detail::unknown_among(x);
}

}  // namespace flowgraph
