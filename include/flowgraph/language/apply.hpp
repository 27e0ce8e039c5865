// Calls an op by its struct: how a user's own op enters a graph.
#pragma once
#include "call_many.hpp"

namespace flowgraph {

// fg::apply<my_op>(x, y), with attributes fg::apply<my_op, my_op::attrs{.width = 3}>(x): up to eight operands. One
// result gives a handle, several a tuple of them, none an operation.
template <class Op, auto Attrs = no_attrs{}, any_tensor A, detail::optional_tensor B = detail::absent,
          detail::optional_tensor C = detail::absent, detail::optional_tensor D = detail::absent,
          detail::optional_tensor E = detail::absent, detail::optional_tensor F = detail::absent,
          detail::optional_tensor G = detail::absent, detail::optional_tensor H = detail::absent>
constexpr auto apply(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {}, const F& f = {},
                     const G& g = {}, const H& h = {}, caller where = {}) {
  return detail::with_present(
      [&](auto... x) {
        if constexpr (detail::rule_results<Op, Attrs, decltype(x)...>::count > 1)
          return detail::call_many<Op, Attrs>(where, x...);
        else
          return detail::call<Op, Attrs>(where, x...);
      },
      a, b, c, d, e, f, g, h);
}

}  // namespace flowgraph
