// Calls with several results, and functions of up to eight operands.
#pragma once
#include <cstdint>
#include <tuple>
#include <utility>

#include "misuse.hpp"

namespace flowgraph::detail {

template <class Op, auto Attrs, class... In>
struct rule_results {
  static constexpr int count = typed_rule<Op, Attrs, void, 0, In...>::result.outputs;
  template <int K>
  using rule = typed_rule<Op, Attrs, void, K, In...>;
  template <int K>
  using handle = typename handle_of<rule<K>>::type;
};

// As call, for an op with several results: a tuple of their handles. The node is followed by one `output` for each.
template <class Op, auto Attrs = no_attrs{}, class First, class... Rest>
constexpr auto call_many(source where, First first, Rest... rest) {
  using results = rule_results<Op, Attrs, First, Rest...>;
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    using handles = std::tuple<typename results::template handle<K>...>;
    constexpr outcome node = results::template rule<0>::result;
    if constexpr (node.why != problem::none) {
      mistake<node.why, First, Rest...>();
      return handles{typename results::template handle<K>{first.graph, first.id}...};
    } else {
      graph_data& g = *first.graph;
      const auto words = words_of(Attrs);
      const int id =
          append_call<Op>(where, node.shape, node.type, words.w, attr_words<decltype(Attrs)>, g, first, rest...);
      g.nodes[id].outputs = static_cast<std::uint8_t>(results::count);
      const auto output = [&](const outcome& o, std::int64_t index) {
        return g.append(op_def_of<ops::output>, shape_id(g, o.shape), o.type, &id, 1, &index, 1);
      };
      // In braces, so that the nodes are appended in the order of the results.
      return handles{typename results::template handle<K>{&g, output(results::template rule<K>::result, K)}...};
    }
  }(std::make_integer_sequence<int, results::count>{});
}

template <class T>
concept optional_tensor = any_tensor<T> || std::is_same_v<T, absent>;

// f(operands...) with those that were given, as tensors.
template <class F, class... T>
constexpr auto with_present(const F& f, const T&... operands) {
  constexpr std::size_t n = (std::size_t{0} + ... + (std::is_same_v<T, absent> ? 0 : 1));
  const std::tuple<const T&...> all(operands...);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return f(tensor_t<std::tuple_element_t<I, std::tuple<T...>>>(std::get<I>(all))...);
  }(std::make_index_sequence<n>{});
}

}  // namespace flowgraph::detail
