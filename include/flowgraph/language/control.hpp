// Control flow in the graph, checked like everything else:
//
//   auto y = fg::cond(x > 0.f, [&] { return x * 2.f; }, [&] { return -x; });
//   auto [i, sum] = fg::while_loop([&](auto i, auto) { return i < n; },
//                                  [&](auto i, auto sum) { return std::tuple(i + 1, sum + i); }, zero, zero);
//
// Branches and bodies are C++ functions. They are called once, while the graph is built; what they add to it runs when
// a step comes there, operations included. They may use tensors from outside.
//
// Below them stand the five primitives that they are made of, for flow that functions don't fit.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/ops/control.hpp>
#include "region_results.hpp"

namespace flowgraph {

struct loop_options {
  std::int64_t maximum_iterations = -1;  // negative: as many as the condition asks for
};

// For derivatives only the variables of every so many turns are kept, and what lies between is computed again: less
// memory for more time. Without it everything is kept that derivatives need.
struct checkpoint_every {
  std::int64_t turns = 1;
  std::int64_t maximum_iterations = -1;
};

namespace detail {

// One tensor alone, several as a tuple.
template <class... T>
constexpr auto unwrapped(const std::tuple<T...>& all) {
  if constexpr (sizeof...(T) == 1)
    return std::get<0>(all);
  else
    return all;
}

// All of them are the graph's own.
template <class... T>
constexpr std::array<int, sizeof...(T) + 1> ids_of(graph_data& g, std::string_view what, const std::tuple<T...>& all) {
  return spread(
      [&](const T&... each) {
        if (((each.graph != &g) || ...)) g.fail(problem::different_graphs, what);
        return std::array<int, sizeof...(T) + 1>{each.id..., -1};
      },
      all);
}

// Shows the first tensor that differs, or all where there are more of one than of the other.
template <problem Why, class... A, class... B>
constexpr auto mistake_of_types(std::type_identity<std::tuple<A...>>, std::type_identity<std::tuple<B...>>) {
  if constexpr ((is_unknown<A> || ...) || (is_unknown<B> || ...)) {
  } else if constexpr (sizeof...(A) != sizeof...(B)) {
    mistake<Why, std::tuple<A...>, std::tuple<B...>>();
  } else {
    constexpr std::size_t first = [] {
      const bool same[] = {std::is_same_v<A, B>...};
      std::size_t i = 0;
      while (same[i]) ++i;
      return i;
    }();
    mistake<Why, std::tuple_element_t<first, std::tuple<A...>>, std::tuple_element_t<first, std::tuple<B...>>>();
  }
}

// One tensor alone, several as a tuple, none as an operation.
template <class... T>
constexpr auto owner_results(graph_data& g, int id, std::type_identity<std::tuple<T...>>) {
  if constexpr (sizeof...(T) == 0) {
    return operation{&g, id};
  } else if constexpr (sizeof...(T) == 1) {
    return (T{&g, id}, ...);
  } else {
    int k = id + 1;
    return std::tuple<T...>{T{&g, k++}...};
  }
}

}  // namespace detail

// A choice between branches: what is added to the graph now belongs to the branch behind those that have ended. Given
// is the tuple of what those gave.
template <int Branches, int Ended = 0, class Given = void>
struct branching {
  graph_data* graph = nullptr;
  int choice = -1;
  int first = -1;  // region
};

// Begins the branches: two for a boolean, as many as are said for a number.
template <int Branches = 2, any_tensor T>
constexpr auto switch_(const T& choice) {
  constexpr dtype type = detail::dtype_of<element_t<T>>;
  constexpr bool fits =
      rank_v<T> == 0 && (type == dtype::int32 || type == dtype::int64 || (type == dtype::boolean && Branches == 2));
  if constexpr (!fits) detail::mistake<problem::branch_choice, tensor_t<T>>();
  graph_data& g = *choice.graph;
  const int first = g.reserve_regions(Branches);
  g.enter_region(first);
  return branching<Branches>{&g, choice.id, first};
}

namespace detail {

template <int Branches, int Ended, class Given, class... T>
constexpr auto end_branch(const branching<Branches, Ended, Given>& b, const std::tuple<T...>& results) {
  using given = std::tuple<T...>;
  using all = std::conditional_t<Ended == 0, given, Given>;
  graph_data& g = *b.graph;
  if constexpr (has_unknown<given>) {
    return unknown_among(g);
  } else if constexpr (!std::is_same_v<all, given>) {
    mistake_of_types<problem::branch_results>(std::type_identity<all>{}, std::type_identity<given>{});
    return owner_results(g, b.choice, std::type_identity<all>{});
  } else {
    const auto ids = ids_of(g, "cond", results);
    constexpr int n = static_cast<int>(sizeof...(T));
    g.close_region(ids.data(), n);
    if constexpr (Ended + 1 < Branches) {
      g.enter_region(b.first + Ended + 1);
      return branching<Branches, Ended + 1, all>{b.graph, b.choice, b.first};
    } else {
      const auto words = words_of(ops::control_attrs{-1, 0, 0});
      const int id = g.append_owner(op_def_of<ops::cond>, ids.data(), n, b.first, Branches, &b.choice, 1, words.w, 3);
      return owner_results(g, id, std::type_identity<all>{});
    }
  }
}

}  // namespace detail

// Ends a branch with what it gives; the next one begins. After the last one it gives the results: those of the branch
// that a step takes. One tensor comes alone, several as a tuple, none as an operation.
template <int Branches, int Ended, class Given, any_tensor... T>
constexpr auto merge(const branching<Branches, Ended, Given>& b, const T&... results) {
  return detail::end_branch(b, std::tuple<tensor_t<T>...>(results...));
}

// A loop in the making: first its condition is being built, behind switch_ its body. `values` are the loop's variables
// there, as they are at the beginning of a turn.
template <class... Variables>
struct loop_frame {
  graph_data* graph = nullptr;
  std::array<int, sizeof...(Variables)> initial{};
  int first = -1;  // region
  loop_options options;
  std::tuple<Variables...> values;
  bool again = false;  // derivatives run it once more
};

namespace detail {

template <class... V>
constexpr void take_turn(loop_frame<V...>& f, int region) {
  graph_data& g = *f.graph;
  g.enter_region(region);
  int k = 0;
  f.values =
      std::tuple<V...>{V{&g, g.append_argument(k++, shape_id(g, V::shape), dtype_of<typename V::element_type>)}...};
}

}  // namespace detail

// Begins a loop; its variables begin as these tensors.
template <any_tensor... T>
  requires(sizeof...(T) > 0)
constexpr auto enter(const loop_options& options, const T&... initial) {
  graph_data& g = *std::get<0>(std::tie(initial...)).graph;
  if (((initial.graph != &g) || ...)) g.fail(problem::different_graphs, "while_loop");
  if (options.maximum_iterations < -1) g.fail(problem::parameter_range, "while_loop");
  loop_frame<tensor_t<T>...> f{&g, {initial.id...}, g.reserve_regions(2), options, {}};
  detail::take_turn(f, f.first);
  return f;
}
template <any_tensor... T>
  requires(sizeof...(T) > 0)
constexpr auto enter(const T&... initial) {
  return enter(loop_options{}, initial...);
}

// Ends the condition; the body begins.
template <class... V, any_tensor P>
constexpr auto switch_(loop_frame<V...>& f, const P& condition) {
  if constexpr (rank_v<P> != 0 || !std::is_same_v<element_t<P>, bool>)
    detail::mistake<problem::loop_condition, tensor_t<P>>();
  f.graph->close_region(&condition.id, 1);
  detail::take_turn(f, f.first + 1);
}

namespace detail {

template <class... V, class... T>
constexpr auto end_body(loop_frame<V...>& f, const std::tuple<T...>& next) {
  if constexpr (!std::is_same_v<std::tuple<V...>, std::tuple<T...>>) {
    unknown_among(*f.graph);
    mistake_of_types<problem::loop_variables>(std::type_identity<std::tuple<V...>>{},
                                              std::type_identity<std::tuple<T...>>{});
  } else {
    f.graph->close_region(ids_of(*f.graph, "while_loop", next).data(), static_cast<int>(sizeof...(T)));
  }
}

}  // namespace detail

// Ends the body: what the variables will be in the next turn.
template <class... V, any_tensor... T>
constexpr auto next_iteration(loop_frame<V...>& f, const T&... next) {
  return detail::end_body(f, std::tuple<tensor_t<T>...>(next...));
}

// The variables as the loop leaves them: one tensor alone, several as a tuple.
template <class... V>
constexpr auto exit(const loop_frame<V...>& f) {
  constexpr int n = static_cast<int>(sizeof...(V));
  const auto words = detail::words_of(ops::control_attrs{f.options.maximum_iterations, 0, f.again});
  const int id = f.graph->append_owner(op_def_of<ops::while_loop>, f.initial.data(), n, f.first, 2, f.initial.data(), n,
                                       words.w, 3);
  return detail::owner_results(*f.graph, id, std::type_identity<std::tuple<V...>>{});
}

namespace detail {

template <class Wanted, class Begun, class Branch, class... Rest>
constexpr auto end_branches(const Begun& b, const Branch& branch, const Rest&... rest) {
  if constexpr (is_unknown<Begun>) {
    return b;
  } else {
    const auto next = end_branch(b, results_in<Wanted>(*b.graph, branch));
    if constexpr (sizeof...(Rest) == 0)
      return next;
    else
      return end_branches<Wanted>(next, rest...);
  }
}

template <int Count, class Choice, class... Branches>
constexpr auto choose(const Choice& choice, const Branches&... branches) {
  if constexpr (!(takes<Branches> && ...)) {
    mistake<problem::branch_function, Branches...>();
    return unknown_among(choice);
  } else {
    return end_branches<typename wanted_results<given_by<Branches>...>::type>(switch_<Count>(choice), branches...);
  }
}

// A loop's functions, with the variables that they must take. A condition may give a bool, too.
template <class Condition, class Body, class... T>
constexpr auto plain_loop(const loop_options& options, bool again, const Condition& condition, const Body& body,
                          const T&... initial) {
  if constexpr (!takes<Condition, tensor_t<T>...> || !takes<Body, tensor_t<T>...>) {
    mistake<problem::loop_function, tensor_t<T>...>();
    unknown_among(initial...);
    return unwrapped(std::tuple<tensor_t<T>...>(initial...));
  } else {
    auto f = enter(options, initial...);
    f.again = again;
    const auto goes_on = spread(condition, f.values);
    if constexpr (std::is_same_v<decltype(goes_on), const bool>) {
      switch_(f, literal_tensor<bool>(f.graph->where, *f.graph, static_cast<int>(goes_on)));
    } else if constexpr (any_tensor<decltype(goes_on)>) {
      switch_(f, goes_on);
    } else {
      if constexpr (!is_unknown<decltype(goes_on)>)
        mistake<problem::loop_condition, std::remove_cvref_t<decltype(goes_on)>>();
      unknown_among(*f.graph);
    }
    end_body(f, spread([&](const auto&... v) { return results_in<std::tuple<tensor_t<T>...>>(*f.graph, body, v...); },
                       f.values));
    return exit(f);
  }
}

template <class... X>
concept not_choice_and_branches = sizeof...(X) != 3 || no_tensor_first<X...>;

// What a loop begins with, of which some may be numbers.
template <class T>
concept loop_value = any_tensor<T> || scalar_value<T>;
template <class... T>
inline constexpr bool loop_values = (loop_value<T> && ...) && (any_tensor<T> || ...);

template <class... X>
inline constexpr bool a_loop = false;
template <class Condition, class Body, class... T>
inline constexpr bool a_loop<Condition, Body, T...> = !loop_value<Condition> && loop_values<T...>;
template <class Body, class Condition, class... T>
inline constexpr bool a_loop<loop_options, Condition, Body, T...> = loop_values<T...>;
template <class Body, class Condition, class... T>
inline constexpr bool a_loop<checkpoint_every, Condition, Body, T...> = loop_values<T...>;
template <class... X>
concept not_a_loop = !a_loop<X...>;

template <class First, class... Rest>
constexpr graph_data& graph_of(const First& first, const Rest&... rest) {
  if constexpr (any_tensor<First>)
    return *first.graph;
  else
    return graph_of(rest...);
}

}  // namespace detail

// What then() gives where the condition is true, otherwise what the other one gives. Only the branch that is taken
// runs. Both give a tensor, a number, a tuple of them, or operations and nothing else.
template <any_tensor P, class Then, class Otherwise>
constexpr auto cond(const P& condition, const Then& then, const Otherwise& otherwise) {
  if constexpr (!std::is_same_v<element_t<P>, bool> || rank_v<P> != 0) {
    detail::mistake<problem::branch_choice, tensor_t<P>>();
    return detail::unknown_among(condition);
  } else {
    return detail::choose<2>(condition, then, otherwise);
  }
}

// The branch of this number: the first is 0, and a number that no branch has means the last.
template <any_tensor I, class... Branches>
  requires(sizeof...(Branches) > 0)
constexpr auto switch_case(const I& index, const Branches&... branches) {
  if constexpr (std::is_same_v<element_t<I>, bool>) {
    detail::mistake<problem::branch_choice, tensor_t<I>>();
    return detail::unknown_among(index);
  } else {
    return detail::choose<static_cast<int>(sizeof...(Branches))>(index, branches...);
  }
}

// As long as condition(variables...) gives true, body(variables...) gives their next values: a tensor, or a tuple.
// Variables keep their element types and extents. The result is what they are at the end.
// A number is a scalar of its own type.
template <class Condition, class Body, class... T>
  requires(detail::loop_values<T...>)
constexpr auto while_loop(const loop_options& options, const Condition& condition, const Body& body,
                          const T&... initial) {
  graph_data& g = detail::graph_of(initial...);
  return detail::plain_loop(options, false, condition, body, detail::as_result<void>(g, initial)...);
}
template <class Condition, class Body, class... T>
  requires(detail::loop_values<T...>)
constexpr auto while_loop(const Condition& condition, const Body& body, const T&... initial) {
  return while_loop(loop_options{}, condition, body, initial...);
}

// The same by loops of so many turns, one behind the other, each of which runs again for derivatives.
template <class Condition, class Body, class... T>
  requires(detail::loop_values<T...>)
constexpr auto while_loop(const checkpoint_every& kept, const Condition& condition, const Body& body,
                          const T&... initial) {
  graph_data& g = detail::graph_of(initial...);
  if (kept.turns < 1 || kept.maximum_iterations < -1) g.fail(problem::parameter_range, "while_loop");
  // Turns are counted over all of those loops.
  const auto most = detail::literal_tensor<std::int64_t>(g.where, g, kept.maximum_iterations);
  const auto begin = detail::literal_tensor<std::int64_t>(g.where, g, kept.maximum_iterations < 0 ? -2 : 0);
  const auto step = detail::literal_tensor<std::int64_t>(g.where, g, kept.maximum_iterations < 0 ? 0 : 1);
  const auto goes_on = [&](const auto& i, const auto&... v) { return i < most && condition(v...); };
  const auto next = [&](const auto& i, const auto&... v) {
    return std::tuple_cat(std::tuple(i + step),
                          detail::results_in<std::tuple<std::remove_cvref_t<decltype(v)>...>>(g, body, v...));
  };
  const auto some = [&](const auto&... v) { return detail::plain_loop({kept.turns}, true, goes_on, next, v...); };
  const auto all = detail::plain_loop({}, false, goes_on, some, begin, detail::as_result<void>(g, initial)...);
  if constexpr (detail::is_unknown<decltype(all)>)
    return all;
  else
    return detail::spread([](const auto&, const auto&... v) { return detail::unwrapped(std::tuple(v...)); }, all);
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_IF(
    cond, flowgraph::detail::not_choice_and_branches<X...>,
    "cond takes a boolean scalar tensor and two functions without parameters, as in cond(x > 0, [&] { return x; }, [&] { return -x; })")
// A choice that the program knows already.
template <std::same_as<bool> B, class Then, class Otherwise>
constexpr auto cond(B, const Then&, const Otherwise&) {
  static_assert(
      detail::given<B>,
      "cond takes a boolean scalar tensor, which a step computes; what is known while the graph is built is chosen "
      "by if");
  return unknown_tensor{};
}
FLOWGRAPH_MISUSE_IF(
    switch_case, sizeof...(X) < 2 || detail::no_tensor_first<X...>,
    "switch_case takes an integer scalar tensor and functions without parameters, as in switch_case(i, [&] { return x; }, [&] { return -x; })")
template <class... X>
  requires detail::not_a_loop<X...>
constexpr auto while_loop(const X&... x) {
  if constexpr (!(detail::is_unknown<X> || ...))
    static_assert(
        detail::given<X...>,
        "while_loop takes a condition, a body and what the variables begin with, of which one at least is a "
        "tensor, as in while_loop([](auto i) { return i < 5; }, [](auto i) { return i + 1; }, g.constant<int>(0))");
  constexpr std::size_t variables =
      (0 + ... + static_cast<std::size_t>(detail::loop_value<X> || detail::is_unknown<X>));
  return detail::unknown_parts<(variables > 1 ? variables : 1)>(x...);
}

}  // namespace flowgraph
