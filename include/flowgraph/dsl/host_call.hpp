// A C++ function of the user's in the graph:
//
//   void clip_rows(fg::array_ref<const float> x, fg::array_ref<float> y);
//   auto y = fg::host_call<"clip_rows", clip_rows, fg::tensor<float, batch, 8>>(x);
//
// The function is part of the op's type, so it works in constexpr graphs as well. It has no gradient: an op with one
// is written as docs/CONTRIBUTING.md shows.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <flowgraph/ops/host_call.hpp>
#include "call_many.hpp"
#include "elementwise.hpp"

namespace flowgraph {

// What the function gets: elements and extents, contiguous, row by row. The memory is the step's: it lasts as long as
// the call.
template <class T>
struct array_ref {
  T* data = nullptr;
  const std::int64_t* dims = nullptr;
  int rank = 0;

  std::int64_t dim(int axis) const { return dims[axis]; }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  T* begin() const { return data; }
  T* end() const { return data + size(); }
  T& operator[](std::int64_t i) const { return data[i]; }
  // As many indices as axes.
  template <std::integral... I>
  T& operator()(I... index) const {
    std::int64_t at = 0;
    int axis = 0;
    ((at = at * dims[axis++] + static_cast<std::int64_t>(index)), ...);
    return data[at];
  }
};

namespace detail {

template <class Result>
struct host_result {
  using element = typename Result::element_type;
  template <class F, class... In>
  static constexpr bool accepts = std::is_invocable_v<F, array_ref<const In>..., array_ref<element>>;
};
template <>
struct host_result<void> {
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
        using op = ops::host_call<Name, Function, typename result::element, typename X::element_type...>;
        if constexpr (!result::template accepts<decltype(Function), typename X::element_type...>)
          detail::mistake<problem::host_function, named<Name>, X...>();
        return detail::call<op, no_attrs{}, Result>(where, x...);
      },
      a, b, c, d, e, f, g, h);
}

}  // namespace flowgraph
