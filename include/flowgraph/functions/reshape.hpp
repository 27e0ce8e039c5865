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

template <class T>
constexpr bool all_ones(std::int64_t mask) {
  for (int i = 0; i < T::rank; ++i)
    if (((mask >> i) & 1) && T::shape.number[i] != 1) return false;
  return true;
}

}  // namespace detail

// reshape<batch, 28 * 28>(images), reshape<2 * batch, 32>(x): as many elements as before.
template <auto... E, any_tensor T>
constexpr auto reshape(const T& x, caller where = {}) {
  return detail::reshape_to<tensor<element_t<T>, detail::canonical<E>()...>>(where, detail::as_tensor(x));
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

}  // namespace flowgraph
