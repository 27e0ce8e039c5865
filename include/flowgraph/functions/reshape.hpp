// The same elements under another shape, repeated into a larger one, and what a shape is as a value.
#pragma once
#include <cstdint>

#include <flowgraph/language/axes.hpp>
#include <flowgraph/ops/range.hpp>
#include "reduction.hpp"

namespace flowgraph {

namespace detail {

// A type whose shape is Change::apply(symbols, extents of T).
template <class Change, class T>
struct changed_shape {
  static constexpr shape_text compute() {
    symbols s;
    const extents e = Change::apply(s, T::shape.in(s));
    shape_text text;
    for (int i = 0; i < e.rank; ++i) {
      if (e[i] >= 0)
        text.push(e[i]);
      else
        text.push(s.text(e[i]));
    }
    text.finish();
    return text;
  }
  static constexpr shape_text shape = compute();
};
template <class Change, class T, class Element = typename T::element_type>
using changed = typename shaped<tensor, Element, changed_shape<Change, T>>::type;

template <class Result, class T>
constexpr auto reshape_to(source where, T x) {
  return call<ops::reshape, no_attrs{}, Result>(where, x);
}

template <int From>
struct flattened {
  static constexpr extents apply(symbols& s, const extents& e) {
    extents r, rest;
    for (int i = 0; i < e.rank; ++i) (i < From ? r : rest).push(e[i]);
    r.push(s.product(rest));
    return r;
  }
};
template <int Axis>
struct expanded {
  static constexpr extents apply(symbols&, const extents& e) {
    extents r;
    for (int i = 0; i <= e.rank; ++i) {
      if (i == Axis) r.push(1);
      if (i < e.rank) r.push(e[i]);
    }
    return r;
  }
};
template <std::int64_t Mask>
struct squeezed {
  static constexpr extents apply(symbols&, const extents& e) {
    extents r;
    for (int i = 0; i < e.rank; ++i)
      if (!((Mask >> i) & 1)) r.push(e[i]);
    return r;
  }
};

// One of the extents is -1: it becomes what the elements leave for it.
template <auto E>
constexpr bool is_open() {
  if constexpr (std::integral<decltype(E)>)
    return E == -1;
  else
    return false;
}
template <auto E>
constexpr auto stated_extent() {
  if constexpr (is_open<E>())
    return 1;
  else
    return canonical<E>();
}
template <auto... E>
struct completed {
  static constexpr extents apply(symbols& s, const extents& from) {
    constexpr bool open[] = {is_open<E>()..., false};
    extents result = shape_text_of<stated_extent<E>()...>.in(s), left = from, stated = result;
    for (int i = 0; i < stated.rank; ++i)  // what is on both sides
      for (int k = 0; k < left.rank; ++k)
        if (left[k] == stated[i]) left[k] = stated[i] = 1;
    const extent count = s.product(left), known = s.product(stated);
    extent rest = 1;
    if (known > 0) rest = s.floordiv(count, known);
    for (int i = 0; i < result.rank; ++i)
      if (open[i]) result[i] = rest;
    return result;
  }
};

template <class T>
constexpr bool all_ones(std::int64_t mask) {
  for (int i = 0; i < T::rank; ++i)
    if (((mask >> i) & 1) && T::shape.number[i] != 1) return false;
  return true;
}

}  // namespace detail

// reshape<batch, 28 * 28>(images), reshape<2 * batch, 32>(x): as many elements as before. One extent may be -1, for
// what the others leave: reshape<batch, -1>(images).
template <auto... E, any_tensor T>
constexpr auto reshape(const T& x, caller where = {}) {
  constexpr int open = (0 + ... + static_cast<int>(detail::is_open<E>()));
  if constexpr (open > 1) {
    detail::mistake<problem::reshape_open, tensor_t<T>>();
    return detail::as_tensor(x);
  } else if constexpr (open == 1) {
    return detail::reshape_to<detail::changed<detail::completed<E...>, tensor_t<T>>>(where, detail::as_tensor(x));
  } else {
    return detail::reshape_to<tensor<element_t<T>, detail::canonical<E>()...>>(where, detail::as_tensor(x));
  }
}

// All axes from this one on become one; flatten<0>(x) is a vector.
template <int From = 1, any_tensor T>
constexpr auto flatten(const T& x, caller where = {}) {
  if constexpr (From < 0 || From > rank_v<T>) {
    detail::mistake<problem::axis_out_of_range, axes<From>, tensor_t<T>>();
    return detail::as_tensor(x);
  } else {
    return detail::reshape_to<detail::changed<detail::flattened<From>, tensor_t<T>>>(where, detail::as_tensor(x));
  }
}

// A new axis of extent 1 at this place of the result; -1 is behind the last.
template <int Axis, any_tensor T>
constexpr auto expand_dims(const T& x, caller where = {}) {
  constexpr int rank = rank_v<T>;
  if constexpr (Axis < -rank - 1 || Axis > rank) {
    detail::mistake<problem::axis_out_of_range, axes<Axis>, tensor_t<T>>();
    return detail::as_tensor(x);
  } else if constexpr (rank == max_rank) {
    detail::mistake<problem::rank_too_high, tensor_t<T>>();
    return detail::as_tensor(x);
  } else {
    using change = detail::expanded<(Axis < 0 ? Axis + rank + 1 : Axis)>;
    return detail::reshape_to<detail::changed<change, tensor_t<T>>>(where, detail::as_tensor(x));
  }
}

// Without these axes, which must have extent 1.
template <int... Axes, any_tensor T>
  requires(sizeof...(Axes) > 0)
constexpr auto squeeze(const T& x, caller where = {}) {
  constexpr std::int64_t mask = detail::axis_mask<tensor_t<T>, Axes...>();
  if constexpr (!detail::all_ones<tensor_t<T>>(mask)) {
    detail::mistake<problem::squeeze_extent, axes<Axes...>, tensor_t<T>>();
    return detail::as_tensor(x);
  } else {
    return detail::reshape_to<detail::changed<detail::squeezed<mask>, tensor_t<T>>>(where, detail::as_tensor(x));
  }
}

// Repeated along axes of extent 1 and along new ones in front.
template <auto... E, any_tensor T>
constexpr auto broadcast_to(const T& x, caller where = {}) {
  using result = tensor<element_t<T>, detail::canonical<E>()...>;
  return detail::call<ops::broadcast_to, no_attrs{}, result>(where, detail::as_tensor(x));
}

// The extents as a vector, their number and their product: int64, named extents with the numbers they are bound to.
template <any_tensor T>
constexpr auto shape(const T& x, caller where = {}) {
  return detail::call<ops::shape>(where, detail::as_tensor(x));
}
template <any_tensor T>
constexpr auto rank(const T& x, caller where = {}) {
  return detail::literal_tensor<std::int64_t>(where, *x.graph, rank_v<T>);
}
template <any_tensor T>
constexpr auto size(const T& x, caller where = {}) {
  constexpr std::int64_t all = (std::int64_t{1} << rank_v<T>)-1;
  if constexpr (constexpr std::int64_t n = detail::static_count<tensor_t<T>>(all); n >= 0)
    return detail::literal_tensor<std::int64_t>(where, *x.graph, n);
  else
    return detail::call<ops::size, ops::size::attrs{all}, tensor<std::int64_t>>(where, detail::as_tensor(x));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(reshape, 2, no_tensor_first,
                 "reshape takes a tensor, and extents as template arguments, as in reshape<batch, 64>(x)")
FLOWGRAPH_MISUSE_OF_BRACES(reshape, "reshape takes extents as template arguments, as in reshape<batch, 64>(x)")
FLOWGRAPH_MISUSE(flatten, 2, no_tensor_first, "flatten takes a tensor, as in flatten(x)")
FLOWGRAPH_MISUSE_BEYOND(expand_dims, 2, sizeof...(Stated) != 1 || detail::no_tensor_first<X...>,
                        "expand_dims takes an axis as a template argument and a tensor, as in expand_dims<0>(x)")
FLOWGRAPH_MISUSE_BEYOND(squeeze, 2, sizeof...(Stated) == 0 || detail::no_tensor_first<X...>,
                        "squeeze takes axes as template arguments and a tensor, as in squeeze<0>(x)")
FLOWGRAPH_MISUSE(broadcast_to, 2, no_tensor_first,
                 "broadcast_to takes a tensor, and extents as template arguments, as in broadcast_to<batch, 64>(x)")
FLOWGRAPH_MISUSE_OF_BRACES(broadcast_to,
                           "broadcast_to takes extents as template arguments, as in broadcast_to<batch, 64>(x)")
FLOWGRAPH_MISUSE(shape, 2, no_tensor_first, "shape takes a tensor, as in shape(x)")
FLOWGRAPH_MISUSE(rank, 2, no_tensor_first, "rank takes a tensor, as in rank(x)")
FLOWGRAPH_MISUSE(size, 2, no_tensor_first, "size takes a tensor, as in size(x)")

}  // namespace flowgraph
