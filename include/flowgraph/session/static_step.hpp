// One step of a constexpr model, as the compiler makes it: the plan of a signature, the types of what it returns.
#pragma once
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/engine/executable.hpp>
#include <flowgraph/engine/state/variables.hpp>
#include <flowgraph/language/define.hpp>
#include <flowgraph/language/static_plan.hpp>
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

// A value of its own from the memory of a step. helpers: who may take part in it; null: nobody.
template <class Value>
Value copy_value(const array_view& v, workers* helpers = nullptr) {
  if constexpr (element<Value>) {
    return *v.as<const Value>();
  } else {
    using T = typename Value::element_type;
    return Value(dims_of<Value>(v), [&](T* to) {
      const kernel_context context{.helpers = helpers};
      kernel_args k;
      k.context = &context;
      parallel_for(k, v.size(), part_work, [&](std::int64_t first, std::int64_t last) {
        std::copy(v.as<const T>() + first, v.as<const T>() + last, to + first);
      });
    });
  }
}

template <class Array>
Array copy_variable(const variable_state& v) {
  return copy_value<Array>({v.data.get(), v.dims.data(), static_cast<int>(v.dims.size()), v.type});
}

// The same without a copy: the memory leaves the step with its value.
template <class Array>
Array take_value(const array_view& v, aligned_buffer<std::byte> memory) {
  using T = typename Array::element_type;
  return Array(dims_of<Array>(v), aligned_buffer<T>(reinterpret_cast<T*>(memory.release())));
}

// What a step gives: one value alone, several as a tuple, none as void. Values: the types of the fetches that have a
// value, in order; done.read(k, f) calls f with the view of the k-th.
template <class Values, class Done>
auto collect_values(const Done& done) {
  constexpr std::size_t count = std::tuple_size_v<Values>;
  const auto value = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using type = std::tuple_element_t<I, Values>;
    if constexpr (!element<type>)
      if (auto memory = done.give(I)) return take_value<type>(done.view(I), std::move(memory));
    return done.read(I, [&](const array_view& v) { return copy_value<type>(v, done.helpers()); });
  };
  if constexpr (count == 1)
    return value(std::integral_constant<std::size_t, 0>{});
  else if constexpr (count > 1)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Values{value(std::integral_constant<std::size_t, I>{})...};
    }(std::make_index_sequence<count>{});
}

// What a call gives after a mistake that the compiler has reported: anything, so that one mistake is one error.
struct after_mistake {
  template <class T>
  operator T() const;
};

}  // namespace flowgraph::detail
