// Einstein's summation with the equation as a template argument, checked by the compiler.
#pragma once
#include <flowgraph/core/fixed_string.hpp>
#include <flowgraph/language/call_many.hpp>
#include <flowgraph/ops/einsum.hpp>

namespace flowgraph {

namespace detail {

template <fixed_string Equation, class First, class... Rest>
constexpr auto einsum(source where, First first, Rest... rest) {
  constexpr ops::einsum_attrs attributes{ops::pack(Equation.view()), 0};
  using rule = typed_rule<ops::einsum, attributes, void, 0, First, Rest...>;
  if constexpr (rule::result.why != problem::none) {
    mistake<rule::result.why, named<Equation>, First, Rest...>();
    return typename handle_of<rule>::type{first.graph, first.id};
  } else {
    return call<ops::einsum, attributes>(where, first, rest...);
  }
}

}  // namespace detail

// einsum<"bij,bjk->bik">(a, b). A letter in two terms is the same index; one that the result lacks is summed; one that
// stands twice in a term takes the diagonal. Without "->" the result has every letter that occurs once, in
// alphabetical order. Spaces don't count.
template <fixed_string Equation, any_tensor A, detail::optional_tensor B = detail::absent,
          detail::optional_tensor C = detail::absent, detail::optional_tensor D = detail::absent,
          detail::optional_tensor E = detail::absent, detail::optional_tensor F = detail::absent,
          detail::optional_tensor G = detail::absent, detail::optional_tensor H = detail::absent>
constexpr auto einsum(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {}, const F& f = {},
                      const G& g = {}, const H& h = {}, caller where = {}) {
  return detail::with_present([&](auto... x) { return detail::einsum<Equation>(where, x...); }, a, b, c, d, e, f, g, h);
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_IF(einsum, sizeof...(Stated) == 0,
                    "einsum takes its equation as a template argument, as in einsum<\"ij,jk->ik\">(a, b)")
template <fixed_string Equation, class... X>
  requires detail::not_tensors_alone<X...>
constexpr auto einsum(const X&... x) {
  if constexpr (!(detail::is_unknown<X> || ...))
    static_assert(detail::given<X...>, "einsum takes tensors, as in einsum<\"ij,jk->ik\">(a, b)");
  return detail::unknown_among(x...);
}

}  // namespace flowgraph
