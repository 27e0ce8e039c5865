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
  const int n = g.nodes.count;
  fusion f = no_fusion(n);
  // operand_counts: of each group. next_write: of a variable, the nearest update behind, counted from the end.
  detail::vec<int> reader_storage(n), write_storage(n), count_storage(n + 1);
  f.groups.reserve(n + 1);
  int *of = f.of.data, *next = f.next.data, *readers = reader_storage.data, *next_write = write_storage.data;
  int *operand_counts = count_storage.data, groups = 1;
  fusion::group* all = f.groups.data;
  const node* nodes = g.nodes.data;
  const int *edges = g.edges.data, *device = devices.data;
  for (const int i : d.fetches) readers[i] = several;
  for (int r = 1; r < g.regions.count; ++r)
    for (const int e : g.results(r)) readers[e] = several;

  for (int i = n; i-- > 0;) {
    const node& x = nodes[i];
    const unsigned t = static_cast<unsigned>(x.op->traits);
    const int *e = edges + x.inputs, *end = e + x.n_inputs;
    if ((t & (bit::elementwise | bit::stateful | bit::random)) != bit::elementwise) {
      for (const int* last = end + x.n_control; e != last; ++e) readers[*e] = several;
      if (t & bit::writes_operand) next_write[outside(g, edges[x.inputs])] = n - i;
      continue;
    }
    int group = readers[i];
    if (group > 0) {
      const fusion::group& into = all[group];
      const node& root = nodes[into.root];
      bool joins = x.shape == root.shape && x.region == root.region && x.n_control == 0 &&
                   device[i] == device[into.root] && into.size < max_program_steps &&
                   operand_counts[group] + x.n_inputs - 1 <= max_program_operands;
      // It would run where the root does: not if a variable it reads changes before.
      for (const int* k = e; k != end && joins; ++k)
        joins = next_write[x.region == 0 ? *k : outside(g, *k)] < n - into.root;
      if (!joins) group = 0;
    }
    if (group <= 0) group = groups++, all[group] = {i, 0, 0}, next[i] = -1, operand_counts[group] = 1;
    if (all[group].size > 0) next[i] = all[group].first;
    of[i] = group, all[group].first = i, ++all[group].size, --operand_counts[group];
    for (; e != end; ++e)
      if (readers[*e] != group) ++operand_counts[group], readers[*e] = readers[*e] == 0 ? group : several;
    for (int k = 0; k < x.n_control; ++k) readers[end[k]] = several;
  }
  f.groups.count = groups;
  for (int k = 1; k < groups; ++k) {
    if (all[k].size == 1)
      of[all[k].root] = 0;
    else
      ++f.fused;
  }
  return f;
}

}  // namespace flowgraph::passes
