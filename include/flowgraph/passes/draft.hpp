// What passes hand to each other: the part of a model that one step needs, on its way to a plan.
#pragma once
#include <flowgraph/graph/graph_data.hpp>
#include <flowgraph/plan/plan.hpp>

namespace flowgraph::passes {

// What a step is asked for, as nodes of the model. A fetch is a value or an operation; any value may be fed.
struct signature {
  detail::slice<int> fetches;
  detail::slice<int> feeds;
};

struct draft_view {
  graph_view graph;
  detail::slice<int> model;  // of each node, the node of the model that it comes from
  detail::slice<int> fetches;
  detail::slice<int> feeds;  // placeholders, whatever was fed
};

// Texts, names and source lines stay in the model; everything else is here, so that passes may change it.
struct draft {
  graph_data graph;
  detail::vec<int> model;
  detail::vec<int> fetches;
  detail::vec<int> feeds;
  plan_fault fault;

  constexpr draft_view view() const { return {graph.view(), model, fetches, feeds}; }
};

// Shapes and symbols with their ids, so that what refers to them needs no change.
constexpr void copy_shapes(graph_data& to, const graph_view& from) {
  for (const symbol& s : from.symbol_entries)
    to.symbols.intern({from.symbol_chars.data + s.text, static_cast<unsigned>(s.length)});
  for (int i = 1; i < from.shapes.count; ++i) to.intern_shape(from.shape(i));
}

// Traits are asked for once or more per node and pass: as bits they cost the constant evaluator no call.
constexpr unsigned bits(trait t) { return static_cast<unsigned>(t); }

// Does input k of an owner enter its regions unchanged? What a loop carries does not.
constexpr bool enters_unchanged(const node& owner, int k) {
  return !owner.op->is(trait::iterates) || k >= owner.outputs;
}

// The variable, or whatever else it is, that a node in a region stands for.
constexpr int outside(const graph_view& g, int id) {
  while (g.nodes.data[id].op->id == ops::argument::id) {
    const int owner = g.regions[g.nodes[id].region].owner, k = static_cast<int>(g.attrs(id)[0]);
    if (!enters_unchanged(g.nodes[owner], k)) break;
    id = g.inputs(owner)[k];
  }
  return id;
}

}  // namespace flowgraph::passes
