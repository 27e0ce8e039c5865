// Ordering, grouping, showing and checking.
#pragma once
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <flowgraph/ops/flow.hpp>
#include "call_many.hpp"
#include "elementwise.hpp"

namespace flowgraph {

// The same value. Under control dependencies it is read after them; of a variable it is the value at this place.
template <any_tensor T>
constexpr auto identity(const T& x, caller where = {}) {
  return detail::call<ops::identity>(where, detail::as_tensor(x));
}

// The same value, through which no gradient flows.
template <any_tensor T>
constexpr auto stop_gradient(const T& x, caller where = {}) {
  return detail::call<ops::stop_gradient>(where, detail::as_tensor(x));
}

// The same value, shown behind the message on the standard error stream whenever it is computed.
template <any_tensor T>
constexpr tensor_t<T> print(const T& x, std::string_view message, caller where = {}) {
  const auto words = ops::text_words(message);
  return {x.graph, detail::append_call<ops::print>(where, tensor_t<T>::shape, detail::dtype_of<element_t<T>>,
                                                   words.begin(), words.size(), *x.graph, detail::as_tensor(x))};
}

// The same value, or the end of the step with an execution_error and this message where an element is a NaN or an
// infinity. session_options::check_numerics looks at every value.
template <any_tensor T>
constexpr auto check_numerics(const T& x, std::string_view message, caller where = {}) {
  using result = tensor_t<T>;
  if constexpr (!is_floating(detail::dtype_of<element_t<T>>)) {
    detail::mistake<problem::needs_floating, result>();
    return result{x.graph, x.id};
  } else {
    const auto words = ops::text_words(message);
    return result{
        x.graph, detail::append_call<ops::check_numerics>(where, result::shape, detail::dtype_of<element_t<T>>,
                                                          words.begin(), words.size(), *x.graph, detail::as_tensor(x))};
  }
}

// Stops the step with an execution_error and this message unless every element is true. It runs where it is fetched,
// or where something has it as a control dependency.
template <any_tensor C>
constexpr operation check(const C& condition, std::string_view message, caller where = {}) {
  if constexpr (!std::is_same_v<element_t<C>, bool>) {
    detail::mistake<problem::needs_boolean, tensor_t<C>>();
    return {condition.graph, condition.id};
  } else {
    const auto words = ops::text_words(message);
    return {condition.graph,
            detail::append_call<ops::check>(where, detail::shape_text_of<>, dtype::none, words.begin(), words.size(),
                                            *condition.graph, detail::as_tensor(condition))};
  }
}

namespace detail {

template <class T>
concept any_node = any_tensor<T> || std::is_same_v<T, operation>;
template <class T>
concept optional_node = any_node<T> || std::is_same_v<T, absent>;

}  // namespace detail

// One operation that runs them all: up to eight tensors and operations.
template <detail::any_node A, detail::optional_node B = detail::absent, detail::optional_node C = detail::absent,
          detail::optional_node D = detail::absent, detail::optional_node E = detail::absent,
          detail::optional_node F = detail::absent, detail::optional_node G = detail::absent,
          detail::optional_node H = detail::absent>
constexpr operation group(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {},
                          const F& f = {}, const G& g = {}, const H& h = {}, caller where = {}) {
  int ids[8]{}, n = 0;
  a.graph->where = where;
  const auto add = [&](const auto& node) {
    if constexpr (detail::any_node<std::remove_cvref_t<decltype(node)>>) {
      if (node.graph != a.graph) a.graph->fail(problem::different_graphs, "group");
      ids[n++] = node.id;
    }
  };
  (add(a), add(b), add(c), add(d), add(e), add(f), add(g), add(h));
  return {a.graph, ops::append_group(*a.graph, ids, n)};
}

// Does nothing, after its control dependencies.
constexpr operation no_op(graph& g, caller where = {}) {
  g.data().where = where;
  return {&g.data(), ops::append_group(g.data(), nullptr, 0)};
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(identity, 2, no_tensor_first, "identity takes a tensor, as in identity(x)")
FLOWGRAPH_MISUSE(stop_gradient, 2, no_tensor_first, "stop_gradient takes a tensor, as in stop_gradient(x)")
FLOWGRAPH_MISUSE(print, 3, not_tensor_and_text_first, "print takes a tensor and a text, as in print(x, \"x\")")
FLOWGRAPH_MISUSE(check_numerics, 3, not_tensor_and_text_first,
                 "check_numerics takes a tensor and a text, as in check_numerics(x, \"x\")")
FLOWGRAPH_MISUSE(check, 3, not_tensor_and_text_first,
                 "check takes a boolean tensor and a text, as in check(x > 0, \"x is positive\")")
FLOWGRAPH_MISUSE_IF(group, flowgraph::detail::not_tensors_alone<X...>,
                    "group takes tensors and operations one by one, as in group(a, b)")
template <class T>
constexpr auto group(std::initializer_list<T> list) {
  static_assert(detail::given<T>, "group takes tensors and operations one by one, without braces, as in group(a, b)");
  return list.size() ? detail::unknown_among(*list.begin()) : unknown_tensor{};
}

}  // namespace flowgraph
