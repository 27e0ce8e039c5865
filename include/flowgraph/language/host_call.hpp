// A C++ function of the user's in the graph:
//
//   void clip_rows(fg::array_ref<const float> x, fg::array_ref<float> y);
//   auto y = fg::host_call<"clip_rows", clip_rows, fg::tensor<float, batch, 8>>(x);
//
// The function is part of the op's type, so it works in constexpr graphs as well. It has no gradient: an op with one
// is written as docs/custom_ops.md shows.
#pragma once
#include <cstdint>
#include <type_traits>

#include <flowgraph/ops/host_call.hpp>
#include "call_many.hpp"
#include "elementwise.hpp"

namespace flowgraph {

namespace detail {

template <class Result>
struct host_result {
  using handle = Result;
  using element = typename Result::element_type;
  template <class F, class... In>
  static constexpr bool accepts = std::is_invocable_v<F, array_ref<const In>..., array_ref<element>>;
};
template <>
struct host_result<void> {
  using handle = operation;
  using element = void;
  template <class F, class... In>
  static constexpr bool accepts = std::is_invocable_v<F, array_ref<const In>...>;
};

}  // namespace detail

// Calls Function with one array_ref<const T> for each operand, and one array_ref<T> for the result, if a type for it
// is given; without one the call is an operation. Name is unique among the functions of a program.
template <fixed_string Name, auto Function, class Result = void, any_tensor A,
          detail::optional_tensor B = detail::absent, detail::optional_tensor C = detail::absent,
          detail::optional_tensor D = detail::absent, detail::optional_tensor E = detail::absent,
          detail::optional_tensor F = detail::absent, detail::optional_tensor G = detail::absent,
          detail::optional_tensor H = detail::absent>
constexpr auto host_call(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {},
                         const F& f = {}, const G& g = {}, const H& h = {}, caller where = {}) {
  return detail::with_present(
      [&]<class... X>(X... x) {
        using result = detail::host_result<Result>;
        if constexpr (!result::template accepts<decltype(Function), typename X::element_type...>) {
          detail::mistake<problem::host_function, named<Name>, X...>();
          return typename result::handle{a.graph, a.id};
        } else {
          using op = ops::host_call<Name, Function, typename result::element, typename X::element_type...>;
          return detail::call<op, no_attrs{}, Result>(where, x...);
        }
      },
      a, b, c, d, e, f, g, h);
}

}  // namespace flowgraph
