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
// For Graphviz: dot -Tsvg.
template <viewed_graph T>
std::string to_dot(const T& graph) {
  return to_dot(graph.view());
}
// A line an instruction: to_text(fg::plan_of<model, fg::fetch<"loss">, fg::fetch<"x">>).
template <viewed_plan T>
std::string to_text(const T& plan) {
  return to_text(plan.view());
}

}  // namespace flowgraph
