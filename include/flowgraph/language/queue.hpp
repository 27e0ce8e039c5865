// Queues in the graph:
//
//   auto q = fg::fifo_queue<fg::tensor<float, 28, 28>, fg::tensor<std::int32_t>>(g, "examples", 100);
//   g.name("put", q.enqueue(image, label));
//   auto [images, labels] = q.dequeue_many<32>();
//
// Ops on queues run in the order in which they were written down. One that can't be done yet suspends its step.
#pragma once
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <flowgraph/ops/queue.hpp>
#include "call_many.hpp"
#include "graph.hpp"

namespace flowgraph {

template <any_tensor... Components>
struct queue;

namespace detail {

template <class Component>
constexpr bool is_static_tensor() {
  for (int i = 0; i < Component::rank; ++i)
    if (Component::shape.number[i] < 0) return false;
  return true;
}

// The tensor of several elements: a first extent in front.
template <auto N, class T, auto... E>
tensor<T, canonical<N>(), E...> add_axis(const tensor<T, E...>&);
template <auto N, class Component>
using many_of = decltype(add_axis<N>(std::declval<Component>()));

// How many, then of each its type, rank and extents.
template <class... Components>
constexpr void describe_components(vec<std::int64_t>& words) {
  words.push(static_cast<std::int64_t>(sizeof...(Components)));
  const auto add = [&](dtype type, const shape_text& s) {
    words.push(static_cast<std::int64_t>(type));
    words.push(s.rank);
    for (int i = 0; i < s.rank; ++i) words.push(s.number[i]);
  };
  (add(dtype_of<typename Components::element_type>, Components::shape), ...);
}

// A node without operands that is known by its words alone.
template <class Op>
constexpr operation append_resource_op(source where, graph_data& g, const vec<std::int64_t>& words) {
  return {&g, append_call<Op>(where, shape_text_of<>, dtype::none, words.begin(), words.size(), g)};
}
constexpr vec<std::int64_t> words_list(std::initializer_list<std::int64_t> all) {
  vec<std::int64_t> words;
  for (const std::int64_t w : all) words.push(w);
  return words;
}

template <class... C>
constexpr auto add_queue(graph& g, std::string_view name, const ops::queue_attrs& a, source where) {
  if constexpr (sizeof...(C) == 0 || sizeof...(C) > 7) {
    mistake<problem::queue_components, C...>();
  } else if constexpr (!(is_static_tensor<C>() && ...)) {
    mistake<problem::queue_extents, C...>();
  } else {
    vec<std::int64_t> words = words_list({a.kind, a.capacity, a.min_after_dequeue, a.seed});
    describe_components<C...>(words);
    const operation o = append_resource_op<ops::queue>(where, g.data(), words);
    if (a.capacity < 1 || a.min_after_dequeue < 0 || a.min_after_dequeue >= a.capacity)
      g.data().fail(problem::queue_capacity, name);
    set_name(g.data(), name, o.id);
    return queue<C...>{&g.data(), o.id};
  }
  return queue<C...>{&g.data(), -1};
}

// The first operand that is not what its place requires: mistake<Why, Given, required<Wanted>>.
template <problem Why, class Given, class Wanted>
constexpr bool check_component() {
  constexpr bool fits = std::is_same_v<Given, Wanted>;
  if constexpr (!fits) mistake<Why, Given, required<Wanted>>();
  return fits;
}
template <problem Why, class... Given, class... Wanted>
constexpr bool check_components(std::type_identity<std::tuple<Given...>>, std::type_identity<std::tuple<Wanted...>>) {
  return (check_component<Why, Given, Wanted>() && ...);
}

}  // namespace detail

// What an element of a queue is made of, and the ops on it.
template <any_tensor... Components>
struct queue {
  graph_data* graph = nullptr;
  int id = -1;

  // One element: a tensor for each component. Waits for room.
  template <any_tensor A, detail::optional_tensor B = detail::absent, detail::optional_tensor C = detail::absent,
            detail::optional_tensor D = detail::absent, detail::optional_tensor E = detail::absent,
            detail::optional_tensor F = detail::absent, detail::optional_tensor G = detail::absent>
  constexpr auto enqueue(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {},
                         const F& f = {}, const G& g = {}, caller where = {}) const {
    return detail::with_present(
        [&]<class... X>(const X&... x) {
          if constexpr (sizeof...(X) != sizeof...(Components))
            detail::mistake<problem::queue_components, std::tuple<X...>, required<queue>>();
          else if constexpr (detail::check_components<problem::queue_element>(
                                 std::type_identity<std::tuple<X...>>{},
                                 std::type_identity<std::tuple<Components...>>{}))
            return put<ops::enqueue>(where, x...);
          return operation{graph, id};
        },
        a, b, c, d, e, f, g);
  }
  // As many elements as the first extent of each tensor. Where that is at most the capacity they enter all at once.
  template <any_tensor A, detail::optional_tensor B = detail::absent, detail::optional_tensor C = detail::absent,
            detail::optional_tensor D = detail::absent, detail::optional_tensor E = detail::absent,
            detail::optional_tensor F = detail::absent, detail::optional_tensor G = detail::absent>
  constexpr auto enqueue_many(const A& a, const B& b = {}, const C& c = {}, const D& d = {}, const E& e = {},
                              const F& f = {}, const G& g = {}, caller where = {}) const {
    return detail::with_present(
        [&]<class First, class... X>(const First& first, const X&... x) {
          if constexpr (1 + sizeof...(X) != sizeof...(Components)) {
            detail::mistake<problem::queue_components, std::tuple<First, X...>, required<queue>>();
          } else if constexpr (First::rank == 0) {
            detail::mistake<problem::queue_batch, First, required<queue>>();
          } else {
            using given = std::tuple<First, X...>;
            using wanted = std::tuple<detail::many_of<extent_v<0, First>, Components>...>;
            if constexpr (detail::check_components<problem::queue_batch>(std::type_identity<given>{},
                                                                         std::type_identity<wanted>{}))
              return put<ops::enqueue_many>(where, first, x...);
          }
          return operation{graph, id};
        },
        a, b, c, d, e, f, g);
  }

  // One element: a tensor, or a tuple of one for each component. Waits until there is one; end_of_input when the queue
  // is closed and has none.
  constexpr auto dequeue(caller where = {}) const { return take<ops::dequeue, Components...>(where); }
  // N elements along a first axis: a number, or a named extent that something else binds. Of a closed queue that has
  // fewer: end_of_input, and they stay.
  template <auto N>
  constexpr auto dequeue_many(caller where = {}) const {
    check_count<N>();
    return take<ops::dequeue_many, detail::many_of<N, Components>...>(where);
  }
  // The same, but of a closed queue as many as it still has. A last scalar says how many; rows behind that are 0.
  template <auto N>
  constexpr auto dequeue_up_to(caller where = {}) const {
    check_count<N>();
    return take<ops::dequeue_up_to, detail::many_of<N, Components>..., tensor<std::int64_t>>(where);
  }

  // How many elements are in it at this moment.
  constexpr tensor<std::int64_t> size(caller where = {}) const {
    const std::int64_t word = id;
    return {graph,
            detail::append_call<ops::queue_size>(where, tensor<std::int64_t>::shape, dtype::int64, &word, 1, *graph)};
  }
  // No more elements come: who dequeues gets what is left, then end_of_input. A second time changes nothing.
  constexpr operation close(pending p = pending::finish, caller where = {}) const {
    return detail::append_resource_op<ops::queue_close>(where, *graph,
                                                        detail::words_list({id, static_cast<std::int64_t>(p)}));
  }

 private:
  template <auto N>
  static constexpr auto check_count() {
    if constexpr (std::integral<decltype(N)>) {
      constexpr bool positive = N > 0;
      if constexpr (!positive) detail::mistake<problem::dequeue_count, detail::many_of<N, Components>...>();
    }
  }
  template <class Op, class... X>
  constexpr operation put(source where, const X&... x) const {
    const std::int64_t word = id;
    return {graph, detail::append_call<Op>(where, detail::shape_text_of<>, dtype::none, &word, 1, *graph, x...)};
  }
  template <class Op, class First, class... Rest>
  constexpr auto take(source where) const {
    detail::vec<std::int64_t> words = detail::words_list({id});
    detail::describe_components<Components...>(words);
    const int node = detail::append_call<Op>(where, First::shape, detail::dtype_of<typename First::element_type>,
                                             words.begin(), words.size(), *graph);
    if constexpr (sizeof...(Rest) == 0) {
      return First{graph, node};
    } else {
      graph->nodes[node].outputs = static_cast<std::uint8_t>(1 + sizeof...(Rest));
      std::int64_t index = 0;
      const auto output = [&](const detail::shape_text& s, dtype type) {
        const int made = graph->append(op_def_of<ops::output>, detail::shape_id(*graph, s), type, &node, 1, &index, 1);
        ++index;
        return made;
      };
      // In braces, so that the nodes are appended in the order of the results.
      return std::tuple<First, Rest...>{
          First{graph, output(First::shape, detail::dtype_of<typename First::element_type>)},
          Rest{graph, output(Rest::shape, detail::dtype_of<typename Rest::element_type>)}...};
    }
  }
};

// First in, first out.
template <any_tensor... Components>
constexpr auto fifo_queue(graph& g, std::string_view name, std::int64_t capacity, caller where = {}) {
  return detail::add_queue<Components...>(g, name, {static_cast<std::int64_t>(ops::queue_kind::fifo), capacity, 0, 0},
                                          where);
}
// Each dequeue takes one of those inside, chosen by the session's seed and this one. While it is open it keeps
// min_after_dequeue elements to choose from.
template <any_tensor... Components>
constexpr auto random_shuffle_queue(graph& g, std::string_view name, std::int64_t capacity,
                                    std::int64_t min_after_dequeue = 0, std::int64_t seed = 0, caller where = {}) {
  return detail::add_queue<Components...>(
      g, name, {static_cast<std::int64_t>(ops::queue_kind::shuffle), capacity, min_after_dequeue, seed}, where);
}
// An int64 scalar in front of the components is the priority: the smallest leaves first, equals in the order they came.
template <any_tensor... Components>
constexpr auto priority_queue(graph& g, std::string_view name, std::int64_t capacity, caller where = {}) {
  return detail::add_queue<tensor<std::int64_t>, Components...>(
      g, name, {static_cast<std::int64_t>(ops::queue_kind::priority), capacity, 0, 0}, where);
}

}  // namespace flowgraph
