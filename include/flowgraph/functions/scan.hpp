// Loops over the leading axis of tensors, and arrays that a loop fills. An array is a tensor like any other; a loop
// that carries one changes it in place.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/core/is_tuple.hpp>
#include <flowgraph/language/control.hpp>
#include <flowgraph/language/graph.hpp>
#include <flowgraph/ops/rows.hpp>
#include "concat.hpp"

namespace flowgraph {

// Zeros, for a loop to fill: auto a = fg::tensor_array<float, time, batch, 8>(g). The first extent is the number of
// elements, a number or a name.
template <element T, auto... E>
  requires(sizeof...(E) > 0)
constexpr auto tensor_array(graph& g, caller where = {}) {
  return g.template constant<T, E...>(T{}, where);
}

// The i-th element: array[i, ...]. i is an int32 or int64 scalar.
template <any_tensor A, any_tensor I>
constexpr auto read(const A& array, const I& i, caller where = {}) {
  return detail::call<ops::embedding_lookup>(where, detail::as_tensor(array), detail::as_tensor(i));
}
// The array with another i-th element.
template <any_tensor A, any_tensor I, any_tensor V>
constexpr auto write(const A& array, const I& i, const V& value, caller where = {}) {
  return detail::call<ops::set_rows>(where, detail::as_tensor(array), detail::as_tensor(i), detail::as_tensor(value));
}

namespace detail {

// How many elements the leading axis has, as a tensor.
template <any_tensor T>
constexpr auto length(const T& x) {
  if constexpr (tensor_t<T>::shape.number[0] >= 0)
    return literal_tensor<std::int64_t>(x.graph->where, *x.graph, tensor_t<T>::shape.number[0]);
  else
    return call<ops::size, ops::size::attrs{1}, tensor<std::int64_t>>(x.graph->where, as_tensor(x));
}

// An array of as many V as Like has rows.
template <class Like, class V, class Indices = std::make_integer_sequence<int, V::rank>>
struct stacked;
template <class Like, class V, int... I>
struct stacked<Like, V, std::integer_sequence<int, I...>> {
  using type = tensor<typename V::element_type, extent_argument_of<Like, 0>(), extent_argument_of<V, I>()...>;
};

constexpr bool same_length(const shape_text& a, const shape_text& b) {
  return b.rank > 0 && a.number[0] == b.number[0] && (a.number[0] >= 0 || a.name(0) == b.name(0));
}
template <class First, class... Rest>
constexpr bool same_length() {
  return First::rank > 0 && (... && same_length(First::shape, Rest::shape));
}

template <std::size_t From, std::size_t N, class Tuple>
constexpr auto part_of(const Tuple& all) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<std::tuple_element_t<From + I, Tuple>...>(std::get<From + I>(all)...);
  }(std::make_index_sequence<N>{});
}

// The loop behind scan, fold and map, over xs in step. States and Given are tuples of tensors: what is carried, and
// what f gives.
template <class States, class Given, class... X>
struct row_loop {
  static constexpr std::size_t states = std::tuple_size_v<States>, collected = std::tuple_size_v<Given> - states;
  using first = std::tuple_element_t<0, std::tuple<X...>>;

  template <std::size_t... K>
  static constexpr auto arrays(graph_data& g, std::index_sequence<K...>) {
    return std::tuple<typename stacked<first, std::tuple_element_t<states + K, Given>>::type...>{
        source_node<ops::constant, typename stacked<first, std::tuple_element_t<states + K, Given>>::type>(
            g.where, g, ops::constant::attrs{0})...};
  }
  template <class Arrays, class Values, std::size_t... K>
  static constexpr auto written(const Arrays& a, const tensor<std::int64_t>& i, const Values& v,
                                std::index_sequence<K...>) {
    return std::tuple(write(std::get<K>(a), i, std::get<states + K>(v))...);
  }

  template <class Options, class F>
  static constexpr auto make(const Options& options, const F& f, const States& initial, const X&... xs) {
    using indices = std::make_index_sequence<collected>;
    graph_data& g = *std::get<0>(std::tie(xs...)).graph;
    const auto n = length(std::get<0>(std::tie(xs...)));
    const auto zero = literal_tensor<std::int64_t>(g.where, g, 0);
    const auto body = [&](const tensor<std::int64_t>& i, const auto&... variables) {
      const std::tuple all(variables...);
      const auto given = spread([&](const auto&... s) { return results_in<States>(g, f, s..., read(xs, i)...); },
                                part_of<0, states>(all));
      return std::tuple_cat(std::tuple(i + 1), part_of<0, states>(given),
                            written(part_of<states, collected>(all), i, given, indices{}));
    };
    const auto result = spread(
        [&](const auto&... variables) {
          return while_loop(
              options, [&](const auto& i, const auto&...) { return i < n; }, body, variables...);
        },
        std::tuple_cat(std::tuple(zero), initial, arrays(g, indices{})));
    return unwrapped(part_of<1, states + collected>(result));
  }
};

template <class X>
using row_of = decltype(read(std::declval<const X&>(), std::declval<tensor<std::int64_t>>()));

template <class Options, class F, class... S, class... X>
constexpr auto loop_over_rows(const Options& options, const F& f, const std::tuple<S...>& initial, const X&... xs) {
  if constexpr (!same_length<X...>()) {
    mistake<problem::scan_lengths, X...>();
    return unknown_among(xs...);
  } else if constexpr (!takes<F, S..., row_of<X>...>) {
    mistake<problem::row_function, S..., row_of<X>...>();
    return unknown_among(xs...);
  } else {
    using given = decltype(results_in<std::tuple<S...>>(std::declval<graph_data&>(), f, std::declval<S>()...,
                                                        read(xs, std::declval<tensor<std::int64_t>>())...));
    if constexpr (has_unknown<given>) {
      return unknown_among(xs...);
    } else if constexpr (std::tuple_size_v<given> < sizeof...(S)) {
      mistake_of_types<problem::loop_variables>(std::type_identity<std::tuple<S...>>{}, std::type_identity<given>{});
      return unknown_among(xs...);
    } else {
      return row_loop<std::tuple<S...>, given, X...>::make(options, f, initial, xs...);
    }
  }
}

template <class T>
concept any_loop_options = std::same_as<T, loop_options> || std::same_as<T, checkpoint_every>;
template <class T>
concept states = loop_value<T> || is_tuple<T>;

template <class... X>
inline constexpr bool rows_behind_states = false;
template <class F, class S, class... X>
inline constexpr bool rows_behind_states<F, S, X...> = !loop_value<F> && states<S> && sizeof...(X) > 0 &&
                                                       (any_tensor<X> && ...);
template <class Options, class F, class S, class... X>
  requires any_loop_options<Options>
inline constexpr bool rows_behind_states<Options, F, S, X...> = states<S> && sizeof...(X) > 0 && (any_tensor<X> && ...);
template <class... X>
concept no_rows_behind_states = !rows_behind_states<X...>;
template <class... X>
inline constexpr bool rows_behind_function = false;
template <class F, class A, class... X>
inline constexpr bool rows_behind_function<F, A, X...> =
    !loop_value<F> && (any_tensor<X> && ...) && (any_tensor<A> || sizeof...(X) > 0);
template <class... X>
inline constexpr bool turns_and_function = false;
template <class N, class F, class A, class... X>
inline constexpr bool turns_and_function<N, F, A, X...> =
    (std::integral<N> || any_tensor<N>)&&!loop_value<F> && any_tensor<A> && (any_tensor<X> && ...);
template <class... X>
concept no_turns_and_function = !turns_and_function<X...>;
template <class... X>
concept no_rows_behind_function = !rows_behind_function<X...>;

}  // namespace detail

// Carries states along the leading axis of xs: f(states..., rows...) gives the next states, and behind them whatever is
// to be collected, turn by turn, in arrays. Gives the last states, and behind them the arrays.
//   auto [h, all] = fg::scan([&](auto h, auto x) { auto y = fg::tanh(h + x); return std::tuple(y, y); }, h0, xs);
template <detail::any_loop_options Options, class F, detail::states S, any_tensor... X>
  requires(sizeof...(X) > 0)
constexpr auto scan(const Options& options, const F& f, const S& initial, const X&... xs) {
  return detail::loop_over_rows(options, f, detail::as_results<std::tuple<>>(detail::graph_of(xs...), initial),
                                detail::as_tensor(xs)...);
}
template <class F, detail::states S, any_tensor... X>
  requires(sizeof...(X) > 0)
constexpr auto scan(const F& f, const S& initial, const X&... xs) {
  return scan(loop_options{}, f, initial, xs...);
}

// Only the last states: fg::fold([](auto sum, auto x) { return sum + x; }, zero, xs).
template <class F, detail::states S, any_tensor... X>
  requires(sizeof...(X) > 0)
constexpr auto fold(const F& f, const S& initial, const X&... xs) {
  return scan(f, initial, xs...);
}

// f(rows...) for each row, collected: fg::map([&](auto x) { return fg::matmul(x, w); }, xs).
template <class F, any_tensor... X>
  requires(sizeof...(X) > 0)
constexpr auto map(const F& f, const X&... xs) {
  return detail::loop_over_rows(loop_options{}, f, std::tuple<>{}, detail::as_tensor(xs)...);
}

// Rows that don't wait for each other: as many loops over equal parts of them, which may run at the same time. The
// result is the same.
//   auto y = fg::map(fg::parallel_iterations<4>{}, f, xs);
template <int Loops>
struct parallel_iterations {
  static_assert(Loops >= 1 && Loops <= 8, "parallel_iterations: from 1 to 8");
};

namespace detail {

// The rows of x in Loops parts that differ by one row at most.
template <int Loops, class T>
constexpr auto row_parts(const T& x) {
  constexpr std::int64_t rows = T::shape.number[0];
  return [&]<std::int64_t... K>(std::integer_sequence<std::int64_t, K...>) {
    return split_by<0, (rows * (K + 1) / Loops - rows * K / Loops)...>(x.graph->where, x);
  }(std::make_integer_sequence<std::int64_t, Loops>{});
}

}  // namespace detail

template <int Loops, class F, any_tensor... X>
  requires(sizeof...(X) > 0)
constexpr auto map(parallel_iterations<Loops>, const F& f, const X&... xs) {
  if constexpr (!detail::same_length<tensor_t<X>...>() || Loops == 1) {
    return map(f, xs...);
  } else if constexpr (((tensor_t<X>::shape.number[0] < Loops) || ...)) {
    detail::mistake<problem::parallel_rows, tensor_t<X>...>();
    return std::get<0>(std::tie(xs...));
  } else {
    const auto parts = std::make_tuple(detail::row_parts<Loops>(detail::as_tensor(xs))...);
    const auto part = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
      return detail::spread([&](const auto&... each) { return map(f, std::get<K>(each)...); }, parts);
    };
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return concat<0>(part(std::integral_constant<std::size_t, K>{})...);
    }(std::make_index_sequence<static_cast<std::size_t>(Loops)>{});
  }
}

// f n times in a row: the next values from those at hand. n is a number or an int32 or int64 scalar.
template <class N, class F, any_tensor... T>
  requires(sizeof...(T) > 0 && (std::integral<N> || any_tensor<N>))
constexpr auto repeat(const N& n, const F& f, const T&... initial) {
  graph_data& g = *std::get<0>(std::tie(initial...)).graph;
  const auto count = [&] {
    if constexpr (any_tensor<N>)
      return detail::as_tensor(n);
    else
      return detail::literal_tensor<std::int64_t>(g.where, g, n);
  }();
  using counter = std::remove_cvref_t<decltype(count)>;
  const auto zero = detail::literal_tensor<typename counter::element_type>(g.where, g, 0);
  if constexpr (!detail::takes<F, tensor_t<T>...>) {
    detail::mistake<problem::row_function, tensor_t<T>...>();
    return detail::unknown_among(initial...);
  } else {
    const auto result = while_loop([&](const auto& i, const auto&...) { return i < count; },
                                   [&](const auto& i, const auto&... v) {
                                     return std::tuple_cat(std::tuple(i + 1),
                                                           detail::results_in<std::tuple<tensor_t<T>...>>(g, f, v...));
                                   },
                                   zero, initial...);
    if constexpr (detail::is_unknown<decltype(result)>)
      return result;
    else
      return detail::unwrapped(detail::part_of<1, sizeof...(T)>(result));
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_IF(
    scan, flowgraph::detail::no_rows_behind_states<X...>,
    "scan takes a function, the states it begins with and tensors, as in scan([](auto h, auto x) { return h + x; }, h, xs)")
FLOWGRAPH_MISUSE_IF(
    fold, flowgraph::detail::no_rows_behind_states<X...>,
    "fold takes a function, the states it begins with and tensors, as in fold([](auto sum, auto x) { return sum + x; }, zero, xs)")
FLOWGRAPH_MISUSE_IF(map, flowgraph::detail::no_rows_behind_function<X...>,
                    "map takes a function and tensors, as in map([](auto x) { return relu(x); }, xs)")
FLOWGRAPH_MISUSE_IF(
    repeat, flowgraph::detail::no_turns_and_function<X...>,
    "repeat takes how often, a function and tensors, as in repeat(3, [](auto x) { return relu(x); }, x)")

}  // namespace flowgraph
