// fg::eval: the value of an expression, once, without a session of one's own. What is run more than once is better
// planned once: by a session, or an fg::function.
#pragma once
#include <concepts>
#include <tuple>
#include <type_traits>

#include <flowgraph/core/is_tuple.hpp>
#include "dynamic_session.hpp"
#include "session.hpp"

namespace flowgraph {

namespace detail {

template <auto Build>
struct named_value {
  constexpr void operator()(graph& g) const { g.name("value", Build(g)); }
};
template <auto Build>
inline constexpr auto value_model = define(named_value<Build>{});

}  // namespace detail

// Of tensors of a graph that was built when the program ran, and that need no feeds: one value, or a tuple of them.
// Variables have the values that they begin with.
template <any_tensor First, any_tensor... Rest>
auto eval(const First& first, const Rest&... rest) {
  dynamic_session s(*first.graph);
  return s.run(first, rest...);
}

// The same with a session's options and whatever it runs: fg::eval({.variables = shared}, loss, train, fg::feed(x,
// images)). Variables are those that sessions share, and a graph of a structure that was run with them before finds its
// plan again; who runs many graphs keeps one fg::dynamic_session for all of them, which costs less.
template <detail::run_argument First, detail::run_argument... Rest>
auto eval(const session_options& options, const First& first, const Rest&... rest) {
  dynamic_session s(options);
  return s.run(first, rest...);
}

// Of what a function of a graph makes: auto y = fg::eval([&](fg::graph& g) { return matmul(g.constant(a),
// g.constant(b)); }); It may give a std::tuple of tensors.
template <class F>
  requires std::invocable<const F&, graph&>
auto eval(const session_options& options, const F& build) {
  graph g;
  const auto made = build(g);
  if constexpr (detail::is_tuple<std::remove_const_t<decltype(made)>>)
    return std::apply([&](const auto&... t) { return eval(options, t...); }, made);
  else
    return eval(options, made);
}
template <class F>
  requires std::invocable<const F&, graph&>
auto eval(const F& build) {
  return eval(session_options{}, build);
}

// The same for a constexpr function: checked and planned by the compiler, and with the kernels that it needs alone.
//   constexpr auto build = [](fg::graph& g) { return matmul(...); };
//   auto y = fg::eval<build>();
template <auto Build>
auto eval() {
  session<detail::value_model<Build>> s;
  return s.template run<"value">();
}

}  // namespace flowgraph
