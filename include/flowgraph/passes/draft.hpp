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
    to.symbols.intern(flowgraph::detail::text_view(from.symbol_chars.data + s.text, s.length));
  for (int i = 1; i < from.shapes.count; ++i) to.intern_shape(from.shape(i));
}

// f(name) for each name in a shape's extents.
template <class F>
constexpr void each_name(const graph_view& g, int shape, const F& f) {
  const shape_entry s = g.shapes[shape];
  for (int i = s.dims; i < s.dims + s.rank; ++i)
    if (g.dims[i] < 0) flowgraph::detail::each_name(g.symbol_text(g.dims[i]), f);
}
constexpr bool has_name(const graph_view& g, int shape, std::string_view name) {
  bool found = false;
  each_name(g, shape, [&](std::string_view n) { found = found || n == name; });
  return found;
}

// A node whose extents have a name that no feed has; -1: there is none.
constexpr int find_unbound(const draft_view& d) {
  const graph_view& g = d.graph;
  if (g.symbol_entries.count == 0) return -1;
  flowgraph::detail::vec<bool> seen(g.shapes.count);
  for (int i = d.feeds.count; i < g.nodes.count; ++i) {
    const int shape = g.nodes.data[i].shape;
    if (seen.data[shape]) continue;
    seen.data[shape] = true;
    bool bound = true;
    each_name(g, shape, [&](std::string_view name) {
      bool fed = false;
      for (int k = 0; k < d.feeds.count && !fed; ++k) fed = has_name(g, g.nodes[d.feeds[k]].shape, name);
      bound = bound && fed;
    });
    if (!bound) return i;
  }
  return -1;
}

// Traits as bits: passes ask for them once or more per node, and a call would cost the constant evaluator more than
// all else they do with the answer.
constexpr unsigned bits(trait t) { return static_cast<unsigned>(t); }
namespace bit {
inline constexpr unsigned elementwise = static_cast<unsigned>(trait::elementwise);
inline constexpr unsigned view = static_cast<unsigned>(trait::view);
inline constexpr unsigned stateful = static_cast<unsigned>(trait::stateful);
inline constexpr unsigned random = static_cast<unsigned>(trait::random);
inline constexpr unsigned commutative = static_cast<unsigned>(trait::commutative);
inline constexpr unsigned source = static_cast<unsigned>(trait::source);
inline constexpr unsigned in_place = static_cast<unsigned>(trait::in_place);
inline constexpr unsigned writes_operand = static_cast<unsigned>(trait::writes_operand);
inline constexpr unsigned has_simplify = static_cast<unsigned>(trait::has_simplify);
inline constexpr unsigned has_fold = static_cast<unsigned>(trait::has_fold);
inline constexpr unsigned finishes = static_cast<unsigned>(trait::finishes);
inline constexpr unsigned reads_extents = static_cast<unsigned>(trait::reads_extents);
inline constexpr unsigned bounded = static_cast<unsigned>(trait::bounded);
inline constexpr unsigned absorbs = static_cast<unsigned>(trait::absorbs);
}  // namespace bit

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
