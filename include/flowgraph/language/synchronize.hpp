// Mutexes, barriers and counters in the graph:
//
//   auto m = fg::mutex(g, "m");
//   auto held = m.acquire();
//   auto work = [&] { auto after = g.control_dependencies(held); return ...; }();
//   auto after = g.control_dependencies(work);
//   g.name("done", m.release());
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/ops/synchronize.hpp>
#include "queue.hpp"
#include "state.hpp"

namespace flowgraph {

// One step at a time has it, from acquire to release or to its own end.
struct mutex_in_graph {
  graph_data* graph = nullptr;
  int id = -1;

  // Waits until nobody has it; the first who came gets it first.
  constexpr operation acquire(caller where = {}) const {
    return detail::append_resource_op<ops::mutex_acquire>(where, *graph, detail::words_list({id}));
  }
  constexpr operation release(caller where = {}) const {
    return detail::append_resource_op<ops::mutex_release>(where, *graph, detail::words_list({id}));
  }
};

// Steps that meet.
struct barrier_in_graph {
  graph_data* graph = nullptr;
  int id = -1;

  // Waits until as many as the barrier has parties are there. Who gives up no longer counts.
  constexpr operation arrive(caller where = {}) const {
    return detail::append_resource_op<ops::barrier_arrive>(where, *graph, detail::words_list({id}));
  }
};

constexpr mutex_in_graph mutex(graph& g, std::string_view name, caller where = {}) {
  const operation o = detail::append_resource_op<ops::mutex>(where, g.data(), {});
  detail::set_name(g.data(), name, o.id);
  return {o.graph, o.id};
}
constexpr barrier_in_graph barrier(graph& g, std::string_view name, std::int64_t parties, caller where = {}) {
  const operation o = detail::append_resource_op<ops::barrier>(where, g.data(), detail::words_list({parties}));
  if (parties < 1) g.data().fail(problem::barrier_parties, name);
  detail::set_name(g.data(), name, o.id);
  return {o.graph, o.id};
}

// Adds 1 to a scalar integer variable and gives what it was before: 0, 1, ..., limit - 1; then end_of_input.
template <any_tensor V>
constexpr auto count_up_to(const V& v, std::int64_t limit, caller where = {}) {
  if constexpr (!any_variable<V>) {
    detail::mistake<problem::needs_variable, tensor_t<V>>();
    return detail::as_tensor(v);
  } else {
    return detail::call_with<ops::count_up_to>(where, {limit}, detail::as_tensor(v));
  }
}

}  // namespace flowgraph
