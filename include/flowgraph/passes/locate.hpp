// Where each value lives: state, a feed, a constant, or memory that is planned later. Views live where their operand
// does, and what enters a region lives where it did outside.
#pragma once
#include <bit>

#include "prune.hpp"

namespace flowgraph::passes {

struct locations {
  // Of each node. A slot's index is the node whose memory it is; memory.hpp turns it into a slot.
  detail::vec<operand> at;
  detail::vec<bool> written;        // of each node: a variable that the step updates
  detail::vec<int> constant_nodes;  // by index of the constant
  detail::vec<int> variable_nodes;  // by index of the variable
  detail::vec<int> literal_nodes;   // by index of the literal
};

// An element-wise instruction takes a constant as one number; every other needs all its elements in memory.
constexpr bool needs_elements(const operand& o, bool elementwise) {
  return o.where == storage::constant && o.shape != 0 && !elementwise;
}

constexpr locations locate(const draft_view& d) {
  const graph_view& g = d.graph;
  const int n = g.size();
  locations l;
  l.at = detail::vec<operand>(n);
  l.written = detail::vec<bool>(n);
  operand* at = l.at.data;
  bool* written = l.written.data;
  const node* nodes = g.nodes.data;
  for (int i = 0; i < n; ++i)
    if (bits(nodes[i].op->traits) & bits(trait::writes_operand))
      written[outside(g, g.edges.data[nodes[i].inputs])] = true;
  detail::vec<int> carried(g.regions.size() > 1 ? g.edges.size() : 0);  // by edge of an owner: node + 1
  int feeds = 0;

  for (int i = 0; i < n; ++i) {
    const node& x = nodes[i];
    if (x.type == dtype::none) continue;
    at[i] = {storage::slot, x.type, i, x.shape};
    if (bits(x.op->traits) & bits(trait::view)) {
      const operand& from = at[g.edges.data[x.inputs]];
      // A view of state that changes within the step is a copy, which keeps the value of its own time; so is one
      // that waits for something.
      if (x.n_control == 0 && (from.where != storage::variable || !written[l.variable_nodes[from.index]]))
        at[i] = {from.where, x.type, from.index, x.shape};
    } else if (bits(x.op->traits) & bits(trait::source)) {
      const std::uint64_t id = x.op->id;
      if (id == ops::constant::id)
        at[i].where = storage::constant, at[i].index = l.constant_nodes.push(i);
      else if (id == ops::variable::id)
        at[i].where = storage::variable, at[i].index = l.variable_nodes.push(i);
      else if (id == ops::placeholder::id)
        at[i].where = storage::feed, at[i].index = feeds++;
      else if (id == ops::literal::id)
        at[i].where = storage::literal, at[i].index = l.literal_nodes.push(i);
      else if (id == ops::argument::id) {
        const int owner = g.regions[x.region].owner, k = static_cast<int>(g.attrs(i)[0]);
        const node& o = nodes[owner];
        if (o.op->is(trait::iterates) && k < o.outputs) {
          int& first = carried[o.inputs + k];
          if (first == 0) first = i + 1;
          at[i].index = first - 1;
        } else {
          at[i] = at[g.edges[o.inputs + k]];
        }
      }
    }
  }
  return l;
}

}  // namespace flowgraph::passes
