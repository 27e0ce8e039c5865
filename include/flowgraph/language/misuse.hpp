// Calls that fit no function: overloads that take what the others don't, and say in one error how the function is
// called. What they give is taken by everything else in silence, so that one mistake is one error. They are told from
// the other overloads by the kinds of the arguments alone, which is cheap: compilers ask it of every call.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tensor.hpp"

namespace flowgraph {

class graph;

// What a call gives after a mistake that the compiler has reported: a tensor, or two of them for auto [a, b].
struct unknown_tensor {
  graph_data* graph = nullptr;
  int id = -1;

  template <class T>
    requires std::is_default_constructible_v<T>
  constexpr operator T() const {
    T t{};
    if constexpr (any_tensor<T> || std::is_same_v<T, operation>) t.graph = graph, t.id = id;
    return t;
  }
  template <std::size_t>
  constexpr unknown_tensor get() const {
    return *this;
  }
};

}  // namespace flowgraph

template <>
struct std::tuple_size<flowgraph::unknown_tensor> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, flowgraph::unknown_tensor> {
  using type = flowgraph::unknown_tensor;
};

namespace flowgraph {

namespace detail {

template <class T>
inline constexpr bool is_unknown = std::is_same_v<std::remove_cvref_t<T>, unknown_tensor>;

// Numbers and named extents in braces, which no template can deduce: f(x, {64, 32}).
struct braced {
  template <class A, class B, class... Rest>
    requires extent_argument<A> && extent_argument<B>
  constexpr braced(const A&, const B&, const Rest&...) {}
};

// As a defaulted first template parameter: the caller states no template arguments.
struct nothing_stated {};

// Stands for an operand that was not given, in functions of up to eight that end in `caller where = {}`.
struct absent {};

// Text, as names are.
template <class T>
concept text_argument = !is_unknown<T> && std::is_convertible_v<const T&, std::string_view>;

// What the first arguments of a call are not. Concepts over constants, so that all functions share what compilers
// remember of them.
template <class... X>
inline constexpr bool tensor_first = false;
template <class A, class... X>
inline constexpr bool tensor_first<A, X...> = any_tensor<A>;
template <class... X>
inline constexpr bool floating_tensor_first = false;
template <class A, class... X>
inline constexpr bool floating_tensor_first<A, X...> = floating_tensor<A>;
template <class... X>
inline constexpr bool two_tensors_first = false;
template <class A, class B, class... X>
inline constexpr bool two_tensors_first<A, B, X...> = any_tensor<A> && any_tensor<B>;
template <class... X>
inline constexpr bool three_tensors_first = false;
template <class A, class B, class C, class... X>
inline constexpr bool three_tensors_first<A, B, C, X...> = any_tensor<A> && any_tensor<B> && any_tensor<C>;
template <class... X>
inline constexpr bool tensor_and_number_first = false;
template <class A, class B, class... X>
inline constexpr bool tensor_and_number_first<A, B, X...> = any_tensor<A> && std::is_convertible_v<B, double>;
template <class... X>
inline constexpr bool tensor_and_text_first = false;
template <class A, class B, class... X>
inline constexpr bool tensor_and_text_first<A, B, X...> = any_tensor<A> && text_argument<B>;
template <class... X>
inline constexpr bool operands_first = false;
template <class A, class B, class... X>
inline constexpr bool operands_first<A, B, X...> =
    (any_tensor<A> && (any_tensor<B> || number<B>)) || (number<A> && any_tensor<B>);
template <class... X>
inline constexpr bool choice_first = false;
template <class A, class B, class C, class... X>
inline constexpr bool choice_first<A, B, C, X...> = any_tensor<A> && operands_first<B, C>;
template <class... X>
concept not_choice_first = !choice_first<X...>;
template <class... X>
inline constexpr bool graph_first = false;
template <class A, class... X>
inline constexpr bool graph_first<A, X...> = std::is_same_v<A, graph>;

template <class... X>
concept no_tensor_first = !tensor_first<X...>;
template <class... X>
concept no_floating_tensor_first = !floating_tensor_first<X...>;
// Of functions that <cmath> has, too: sqrt(2) is not theirs.
template <class... X>
concept neither_tensor_nor_number_first =
    !tensor_first<X...> && !(sizeof...(X) > 0 && (std::is_arithmetic_v<X> && ...));
template <class... X>
concept neither_operands_nor_numbers_first =
    !operands_first<X...> && !(sizeof...(X) > 0 && (std::is_arithmetic_v<X> && ...));
// The operands of functions of up to eight, and the line of the call.
template <class... X>
concept not_tensors_alone = sizeof...(X) == 0 || !((any_tensor<X> || std::is_base_of_v<source, X> ||
                                                    std::is_same_v<X, absent> || std::is_same_v<X, operation>)&&...);
// Arguments behind the first that are there, and are not what the function has in their places.
template <class Kind, class... X>
inline constexpr bool second_is_no = false;
template <class Kind, class A, class B, class... X>
inline constexpr bool second_is_no<Kind, A, B, X...> = !std::is_convertible_v<const B&, Kind>;
template <class Kind, class... X>
inline constexpr bool third_is_no = false;
template <class Kind, class A, class B, class C, class... X>
inline constexpr bool third_is_no<Kind, A, B, C, X...> = !std::is_convertible_v<const C&, Kind>;
template <class... X>
concept not_two_tensors_first = !two_tensors_first<X...>;
template <class... X>
concept not_three_tensors_first = !three_tensors_first<X...>;
template <class... X>
concept not_tensor_and_number_first = !tensor_and_number_first<X...>;
template <class... X>
concept not_tensor_and_text_first = !tensor_and_text_first<X...>;
template <class... X>
concept not_loss_and_tensors = sizeof...(X) < 2 || !(any_tensor<X> && ...);
template <class... X>
concept not_operands_first = !operands_first<X...>;
template <class... X>
concept no_graph_first = !graph_first<X...>;

// Is the language meant? A function of the user's own may have the same name, for arrays and other classes.
template <class T>
concept of_a_graph = any_tensor<T> || is_unknown<T> || std::is_same_v<T, graph> || std::is_same_v<T, operation> ||
                     requires { requires any_tensor<typename T::value_type>; };
template <class... X>
concept about_tensors = (of_a_graph<X> || ...) || !(std::is_class_v<X> || ...);

// A graph that an argument belongs to is told that something is missing in it.
template <class... X>
constexpr unknown_tensor unknown_among(const X&... x) {
  unknown_tensor u;
  const auto look = [&u](const auto& each) {
    using T = std::remove_cvref_t<decltype(each)>;
    if (u.graph) return;
    if constexpr (std::is_same_v<T, graph_data>)
      u.graph = &const_cast<graph_data&>(each), u.id = 0;
    else if constexpr (std::is_same_v<T, graph>)
      u.graph = &const_cast<T&>(each).data(), u.id = 0;
    else if constexpr (any_tensor<T> || std::is_same_v<T, operation> || is_unknown<T>)
      u.graph = each.graph, u.id = each.id;
  };
  (look(x), ...);
  if (u.graph) u.graph->fail(problem::already_said, {});
  return u;
}

// Results of a call that has as many.
template <std::size_t N, class... X>
constexpr auto unknown_array(const X&... x) {
  std::array<unknown_tensor, N> parts;
  parts.fill(unknown_among(x...));
  return parts;
}
template <std::size_t N, class... X>
constexpr auto unknown_parts(const X&... x) {
  if constexpr (N == 1)
    return unknown_among(x...);
  else
    return unknown_array<N>(x...);
}

}  // namespace detail

// Of name, called with arguments that the constraint holds of, or with more than it has: most of them, with the line of
// the call.
#define FLOWGRAPH_MISUSE_BEYOND(name, most, constraint, sentence)                             \
  template <auto... Stated, class... X>                                                       \
    requires((sizeof...(X) > most) || (constraint)) && flowgraph::detail::about_tensors<X...> \
  constexpr auto name(const X&... x) {                                                        \
    if constexpr (!(flowgraph::detail::is_unknown<X> || ...)) {                               \
      if constexpr (constraint)                                                               \
        static_assert(flowgraph::detail::given<X...>, sentence);                              \
      else                                                                                    \
        flowgraph::detail::mistake<flowgraph::problem::argument_too_many, X...>();            \
    }                                                                                         \
    return flowgraph::detail::unknown_among(x...);                                            \
  }
#define FLOWGRAPH_MISUSE(name, most, concept_of_arguments, sentence) \
  FLOWGRAPH_MISUSE_BEYOND(name, most, flowgraph::detail::concept_of_arguments<X...>, sentence)
// Of functions whose arguments the constraint counts itself.
#define FLOWGRAPH_MISUSE_IF(name, constraint, sentence)                                                                \
  template <auto... Stated, class... X>                                                                                \
    requires(constraint) && flowgraph::detail::about_tensors<X...>                                                     \
  constexpr auto name(const X&... x) {                                                                                 \
    if constexpr (!(flowgraph::detail::is_unknown<X> || ...)) static_assert(flowgraph::detail::given<X...>, sentence); \
    return flowgraph::detail::unknown_among(x...);                                                                     \
  }
// With a list in braces behind its first argument.
#define FLOWGRAPH_MISUSE_OF_BRACES(name, sentence)                                                         \
  template <auto... Stated, class X>                                                                       \
  constexpr auto name(const X& x, flowgraph::detail::braced) {                                             \
    if constexpr (!flowgraph::detail::is_unknown<X>) static_assert(flowgraph::detail::given<X>, sentence); \
    return flowgraph::detail::unknown_among(x);                                                            \
  }
// Of what makes a tensor of a graph, with an element type and extents as template arguments.
#define FLOWGRAPH_MISUSE_OF_SOURCE(name, sentence)                                               \
  template <flowgraph::detail::nothing_stated = flowgraph::detail::nothing_stated{}, class... X> \
    requires flowgraph::detail::about_tensors<X...>                                              \
  constexpr auto name(const X&... x) {                                                           \
    static_assert(flowgraph::detail::given<X...>, sentence);                                     \
    return flowgraph::detail::unknown_among(x...);                                               \
  }                                                                                              \
  template <class Stated, auto... Extents, class... X>                                           \
    requires flowgraph::detail::no_graph_first<X...>                                             \
  constexpr auto name(const X&... x) {                                                           \
    static_assert(flowgraph::detail::given<X...>, sentence);                                     \
    return flowgraph::detail::unknown_among(x...);                                               \
  }                                                                                              \
  template <class Stated, auto... Extents>                                                       \
  constexpr auto name(const graph& g, flowgraph::detail::braced) {                               \
    static_assert(flowgraph::detail::given<Stated>, sentence);                                   \
    return flowgraph::detail::unknown_among(g);                                                  \
  }

// Next to a tensor: neither a tensor nor a number.
namespace detail {
template <class A, class B>
concept no_operands = (any_tensor<A> || is_unknown<A> || any_tensor<B> || is_unknown<B>)&&!operands_first<A, B> &&
                      (any_tensor<A> || !one_named<A, B>);
}
#define FLOWGRAPH_OPERATOR(symbol)                                                                                    \
  template <class A, class B>                                                                                         \
    requires detail::no_operands<A, B>                                                                                \
  constexpr auto operator symbol(const A& a, const B& b) {                                                            \
    if constexpr (!detail::is_unknown<A> && !detail::is_unknown<B>)                                                   \
      static_assert(detail::given<A, B>, "an operand of a tensor must be a tensor of its element type, or a number"); \
    return detail::unknown_among(a, b);                                                                               \
  }
FLOWGRAPH_OPERATOR(+)
FLOWGRAPH_OPERATOR(-)
FLOWGRAPH_OPERATOR(*)
FLOWGRAPH_OPERATOR(/)
FLOWGRAPH_OPERATOR(%)
FLOWGRAPH_OPERATOR(<)
FLOWGRAPH_OPERATOR(<=)
FLOWGRAPH_OPERATOR(>)
FLOWGRAPH_OPERATOR(>=)
FLOWGRAPH_OPERATOR(&&)
FLOWGRAPH_OPERATOR(||)
#undef FLOWGRAPH_OPERATOR

namespace detail {
template <class A, class B>
concept compared = any_tensor<A> || is_unknown<A> || any_tensor<B> || is_unknown<B>;

template <class A, class B>
constexpr auto compare(const A& a, const B& b) {
  if constexpr (!is_unknown<A> && !is_unknown<B>) mistake<problem::tensor_compared, A, B>();
  return unknown_among(a, b);
}
}  // namespace detail

template <class A, class B>
  requires detail::compared<A, B>
constexpr auto operator==(const A& a, const B& b) {
  return detail::compare(a, b);
}
template <class A, class B>
  requires detail::compared<A, B>
constexpr auto operator!=(const A& a, const B& b) {
  return detail::compare(a, b);
}

constexpr unknown_tensor operator-(const unknown_tensor& u) { return u; }
constexpr unknown_tensor operator!(const unknown_tensor& u) { return u; }

}  // namespace flowgraph
