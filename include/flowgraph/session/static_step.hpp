// One step of a constexpr model, as the compiler makes it: the plan of a signature, the types of what it returns.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/language/define.hpp>
#include <flowgraph/language/static_plan.hpp>
#include "engine_here.hpp"
#include "feed.hpp"

namespace flowgraph::detail {

// The shape of a model's node, for types.
template <const auto& Model, int Node>
struct node_shape {
  static constexpr shape_text shape = [] {
    shape_text s;
    const graph_view g = Model.view();
    const extents e = g.shape_of(Node);
    for (int i = 0; i < e.rank; ++i) {
      if (e[i] >= 0)
        s.push(e[i]);
      else
        s.push(g.symbol_text(e[i]));
    }
    s.finish();
    return s;
  }();
};

template <const auto& Model, int Node>
inline constexpr dtype node_type = Model.view().nodes[Node].type;
template <const auto& Model, int Node>
using node_element = type_of<node_type<Model, Node>>;
template <const auto& Model, int Node>
using node_array = typename shaped<ndarray, node_element<Model, Node>, node_shape<Model, Node>>::type;
template <const auto& Model, int Node>
using node_tensor = typename shaped<tensor, node_element<Model, Node>, node_shape<Model, Node>>::type;

// What a fetch gives: an array, a number for a scalar, nothing for an operation.
template <class Array>
using value_of_array = std::conditional_t<Array::rank == 0, typename Array::element_type, Array>;

template <const auto& Model, int Node, bool HasValue = node_type<Model, Node> != dtype::none>
struct fetched {
  using type = std::tuple<value_of_array<node_array<Model, Node>>>;
};
template <const auto& Model, int Node>
struct fetched<Model, Node, false> {
  using type = std::tuple<>;
};

// All values that a step gives, in the order of the fetches.
template <const auto& Model, int... Node>
using fetched_tuple = decltype(std::tuple_cat(std::declval<typename fetched<Model, Node>::type>()...));

template <class Array>
typename Array::dims_type dims_of(const array_view& v) {
  typename Array::dims_type dims{};
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = v.dims[i];
  return dims;
}

template <class Array>
Array copy_variable(engine& e, const graph_view& g, int node) {
  Array value;
  read_variable(e, g, node, [&](const array_view& v) {
    value = Array(dims_of<Array>(v), [&](typename Array::element_type* to) {
      std::copy_n(v.as<const typename Array::element_type>(), v.size(), to);
    });
  });
  return value;
}

// The k-th value of a step: its memory leaves the step with it where that is possible, and is copied where it is not.
template <class Value>
Value take_value(const step_values& done, std::size_t k) {
  if constexpr (element<Value>) {
    Value x{};
    done.copy(k, &x);
    return x;
  } else {
    using T = typename Value::element_type;
    const auto dims = dims_of<Value>(done.view(k));
    if (void* const memory = done.give(k)) return Value(dims, aligned_buffer<T>(static_cast<T*>(memory)));
    return Value(dims, [&](T* to) { done.copy(k, to); });
  }
}

// What a step gives: one value alone, several as a tuple, none as void. Values: the types of the fetches that have a
// value, in order.
template <class Values>
auto collect_values(const step_values& done) {
  constexpr std::size_t count = std::tuple_size_v<Values>;
  if constexpr (count == 1)
    return take_value<std::tuple_element_t<0, Values>>(done, 0);
  else if constexpr (count > 1)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Values{take_value<std::tuple_element_t<I, Values>>(done, I)...};
    }(std::make_index_sequence<count>{});
}
template <class Values>
using collected = decltype(collect_values<Values>(std::declval<const step_values&>()));

// Runs a step for its values.
template <class Values>
collected<Values> run_for_values(engine& e, prepared_step& s, const graph_view& g, const step_request& r) {
  if constexpr (std::tuple_size_v<Values> == 0) {
    run(e, s, g, r, [](const step_values&) {});
  } else {
    std::optional<collected<Values>> values;
    run(e, s, g, r, [&](const step_values& done) { values.emplace(collect_values<Values>(done)); });
    return std::move(*values);
  }
}

// What a call gives after a mistake that the compiler has reported: anything, so that one mistake is one error.
struct after_mistake {
  template <class T>
  operator T() const;
  template <class T>
  static T as();
};

}  // namespace flowgraph::detail
