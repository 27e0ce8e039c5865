// Graphs and plans as text: of a constexpr model, of a graph that is built at run time, of a plan. Not part of
// define.hpp, because it needs std::string.
#pragma once
#include <concepts>
#include <string>

#include <flowgraph/graph/print.hpp>
#include <flowgraph/plan/print.hpp>
#include "define.hpp"
#include "static_plan.hpp"

namespace flowgraph {

template <class T>
concept viewed_graph = requires(const T& t) {
  { t.view() } -> std::same_as<graph_view>;
};
template <class T>
concept viewed_plan = requires(const T& t) {
  { t.view() } -> std::same_as<plan_view>;
};

// A line a node, the same on every machine.
template <viewed_graph T>
std::string to_text(const T& graph) {
  return to_text(graph.view());
}
namespace detail {

// Where the nodes of a whole model go.
inline print_labels device_labels(const graph_view& g, slice<std::string_view> devices, const passes::options& o) {
  vec<int> ids(g.size());
  for (int i = 0; i < g.size(); ++i) ids[i] = i;
  const passes::placement on = passes::place({g, ids, {}, {}}, g, devices, {o.one_device, o.soft_placement, o.kinds});
  print_labels labels;
  labels.place.assign(on.device.begin(), on.device.end());
  labels.places.assign(devices.begin(), devices.end());
  return labels;
}

}  // namespace detail

// For Graphviz: dot -Tsvg. Devices are colours: of fg::on_devices<model, ...> where each node goes, of a model alone
// what it asks for.
template <viewed_graph T>
std::string to_dot(const T& graph) {
  if constexpr (requires { graph.placing; })
    return to_dot(graph.view(), detail::device_labels(graph.view(), graph.devices(), graph.placing));
  else
    return to_dot(graph.view());
}
// A line an instruction: to_text(fg::plan_of<model, fg::fetch<"loss">, fg::fetch<"x">>).
template <viewed_plan T>
std::string to_text(const T& plan) {
  return to_text(plan.view());
}

}  // namespace flowgraph
