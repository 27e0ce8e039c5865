// Calls an op by its struct: how a user's own op enters a graph.
#pragma once
#include "call_many.hpp"

namespace flowgraph {

namespace detail {

// What is wrong with an op, or with its attributes. A member that does not fit its use would be passed over in silence.
template <class Op, auto Attrs, class... X>
constexpr problem op_problem() {
  if constexpr (!requires { Op::name, Op::id, Op::traits; })
    return problem::op_base;
  else if constexpr (!requires(inference& f) { Op::infer(f); })
    return problem::op_infer;
  else if constexpr ((
                         requires { &Op::gradient; } && !requires(gradient_step& g) { Op::gradient(g); }) ||
                     (
                         requires { &Op::simplify; } && !requires(rewriter& r) { Op::simplify(r); }) ||
                     (
                         requires { &Op::fold; } && !requires(const double* x) { Op::fold(x); }) ||
                     (
                         requires { &Op::flops; } && !requires(const cost_query& q) { Op::flops(q); }))
    return problem::op_member;
  else if constexpr (requires { typename Op::attrs; })
    return std::is_same_v<typename Op::attrs, std::remove_cv_t<decltype(Attrs)>> ? problem::none
                                                                                 : problem::op_attributes;
  else if constexpr (!std::is_same_v<no_attrs, std::remove_cv_t<decltype(Attrs)>>)
    return problem::op_attributes;
  else
    return problem::none;
}
// Can the compiler run the rule?
template <class Op, auto Attrs, class... X>
concept has_rule =
    requires { typename constant_bool<(static_cast<void>(ask_rule<Op, Attrs, void, 0, X...>()), true)>; };

}  // namespace detail

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
        constexpr problem why = detail::op_problem<Op, Attrs, decltype(x)...>();
        if constexpr (why != problem::none) {
          detail::mistake<why, Op, decltype(x)...>();
          return detail::unknown_among(x...);
        } else if constexpr (!detail::has_rule<Op, Attrs, decltype(x)...>) {
          detail::mistake<problem::op_infer, Op, decltype(x)...>();
          return detail::unknown_among(x...);
        } else if constexpr (detail::rule_results<Op, Attrs, decltype(x)...>::count > 1) {
          return detail::call_many<Op, Attrs>(where, x...);
        } else {
          return detail::call<Op, Attrs>(where, x...);
        }
      },
      a, b, c, d, e, f, g, h);
}

// A call that does not fit it.
template <class Op, auto... Attrs, class... X>
  requires detail::not_tensors_alone<X...>
constexpr auto apply(const X&... x) {
  if constexpr (!(detail::is_unknown<X> || ...))
    static_assert(detail::given<X...>,
                  "apply takes an op as a template argument and its tensors, as in fg::apply<my_op>(x)");
  return detail::unknown_among(x...);
}

}  // namespace flowgraph
