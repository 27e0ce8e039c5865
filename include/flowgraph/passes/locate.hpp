// Where each value lives: state, a feed, a constant, or memory that is planned later. Views live where their operand
// does, what enters a region lives where it did outside, and what a loop carries where its result will be.
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

// The node that is the k-th result of another one.
constexpr int result_of(const node& x, int id, int k) { return x.outputs > 1 ? id + 1 + k : id; }

constexpr locations locate(const draft_view& d) {
  const graph_view& g = d.graph;
  const int n = g.nodes.count;
  locations l;
  l.at = detail::vec<operand>(n);
  l.written = detail::vec<bool>(n);
  operand* at = l.at.data;
  bool* written = l.written.data;
  const node* nodes = g.nodes.data;
  const int* edges = g.edges.data;
  for (int i = 0; i < n; ++i)
    if (static_cast<unsigned>(nodes[i].op->traits) & bit::writes_operand)
      written[outside(g, edges[nodes[i].inputs])] = true;
  int feeds = 0;

  for (int i = 0; i < n; ++i) {
    if (nodes[i].type == dtype::none) continue;
    const node& x = nodes[i];
    at[i] = {storage::slot, x.type, i, x.shape};
    if (!(static_cast<unsigned>(x.op->traits) & (bit::view | bit::source))) continue;
    if (static_cast<unsigned>(x.op->traits) & bit::view) {
      const operand& from = at[edges[x.inputs]];
      // A view of state that changes within the step is a copy, which keeps the value of its own time; so is one
      // that waits for something.
      if (x.n_control == 0 && (from.where != storage::variable || !written[l.variable_nodes[from.index]]))
        at[i] = {from.where, x.type, from.index, x.shape};
    } else if (x.op->id == ops::constant::id) {
      at[i].where = storage::constant, at[i].index = l.constant_nodes.push(i);
    } else if (x.op->id == ops::variable::id) {
      at[i].where = storage::variable, at[i].index = l.variable_nodes.push(i);
    } else if (x.op->id == ops::placeholder::id) {
      at[i].where = storage::feed, at[i].index = feeds++;
    } else if (x.op->id == ops::literal::id) {
      at[i].where = storage::literal, at[i].index = l.literal_nodes.push(i);
    } else if (x.op->id == ops::argument::id) {
      const int owner = g.regions[x.region].owner, k = static_cast<int>(g.attrs(i)[0]);
      if (enters_unchanged(nodes[owner], k))
        at[i] = at[edges[nodes[owner].inputs + k]];
      else
        at[i].index = result_of(nodes[owner], owner, k);
    }
  }
  return l;
}

}  // namespace flowgraph::passes
