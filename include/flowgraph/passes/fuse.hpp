// Groups of element-wise nodes that run as one instruction, tile by tile, without memory for what passes between
// them. A node joins the group of its readers if they are all in one, on its device and in its region, and if its
// shape is the group's.
#pragma once
#include "fusion.hpp"
#include "prune.hpp"

namespace flowgraph::passes {

// devices: of each node, the index of its device.
constexpr fusion fuse(const draft_view& d, detail::slice<int> devices) {
  constexpr int several = -1;  // readers in different groups, or outside of any
  const graph_view& g = d.graph;
  const int n = g.size();
  fusion f = no_fusion(n);
  detail::vec<int> reader_storage(n), write_storage(n), operand_counts;
  operand_counts.push(0);
  int *of = f.of.data, *next = f.next.data, *readers = reader_storage.data;
  int* next_write = write_storage.data;  // of a variable: the nearest update behind, 0: none
  const node* nodes = g.nodes.data;
  for (const int i : d.fetches) readers[i] = several;
  for (const region& r : g.regions)
    for (int k = r.results; k < r.results + r.n_results; ++k) readers[g.edges[k]] = several;

  for (int i = n; i-- > 0;) {
    const node& x = nodes[i];
    const unsigned t = bits(x.op->traits);
    const int *e = g.edges.data + x.inputs, *end = e + x.n_inputs;
    if ((t & (bits(trait::elementwise) | bits(trait::stateful) | bits(trait::random))) != bits(trait::elementwise)) {
      for (const int* last = end + x.n_control; e != last; ++e) readers[*e] = several;
      if (t & bits(trait::writes_operand)) next_write[outside(g, g.edges.data[x.inputs])] = i;
      continue;
    }
    int group = readers[i];
    if (group > 0) {
      const fusion::group& into = f.groups.data[group];
      const node& root = nodes[into.root];
      bool joins = x.shape == root.shape && x.region == root.region && x.n_control == 0 &&
                   devices.data[i] == devices.data[into.root] && into.size < max_program_steps &&
                   operand_counts.data[group] + x.n_inputs - 1 <= max_program_operands;
      // It would run where the root does: not if a variable it reads changes before.
      for (const int* k = e; k != end && joins; ++k) {
        const int write = next_write[x.region == 0 ? *k : outside(g, *k)];
        joins = write == 0 || write > into.root;
      }
      if (!joins) group = 0;
    }
    if (group <= 0) {
      group = f.groups.push({i, i, 0});
      operand_counts.push(1);
    }
    fusion::group& into = f.groups.data[group];
    of[i] = group, next[i] = into.size == 0 ? -1 : into.first, into.first = i, ++into.size;
    --operand_counts.data[group];
    for (; e != end; ++e) {
      if (readers[*e] == group) continue;
      ++operand_counts.data[group];
      readers[*e] = readers[*e] == 0 ? group : several;
    }
    for (const int* last = end + x.n_control; e != last; ++e) readers[*e] = several;
  }
  for (int i = 0; i < n; ++i)
    if (f.groups.data[of[i]].size == 1) of[i] = 0;
  return f;
}

}  // namespace flowgraph::passes
