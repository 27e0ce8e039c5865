// Groups of element-wise nodes that run as one instruction, tile by tile, without memory for what passes between
// them. A node joins the group of its readers if they are all in one, on its device and in its region, and if its
// shape is the group's. So does an op whose kernels can go on with its result, such as matmul, at most one in a group.
// A group may also end in an op that absorbs its value, such as a reduction or the update of a variable.
#pragma once
#include "fusion.hpp"
#include "prune.hpp"

namespace flowgraph::passes {

// Kernels of ops that are not element-wise may compute other types through these, in memory of their own.
constexpr bool computes_alike(dtype t) { return t == dtype::float32 || t == dtype::float64; }

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

  // Could node i run where the root of a group does? Not if a variable it reads changes before.
  const auto fits = [&](const node& x, int i, int group) {
    const fusion::group& into = all[group];
    bool yes = x.shape == into.shape && x.region == nodes[into.root].region && x.n_control == 0 &&
               device[i] == device[into.root] && operand_counts[group] + x.n_inputs - 1 <= max_program_operands;
    for (const int *k = edges + x.inputs, *end = k + x.n_inputs; k != end && yes; ++k)
      yes = next_write[x.region == 0 ? *k : outside(g, *k)] <= n - into.root;  // the root may be that change
    return yes;
  };

  for (int i = n; i-- > 0;) {
    const node& x = nodes[i];
    const unsigned t = static_cast<unsigned>(x.op->traits);
    const int *e = edges + x.inputs, *end = e + x.n_inputs;
    if ((t & (bit::elementwise | bit::stateful | bit::random)) != bit::elementwise) {
      const int joined = t & bit::finishes ? readers[i] : 0;
      if (joined > 0 && all[joined].op < 0 && x.type == nodes[all[joined].root].type && computes_alike(x.type) &&
          fits(x, i, joined)) {
        of[i] = joined, all[joined].op = i, operand_counts[joined] += x.n_inputs;
      } else if (t & bit::absorbs) {
        const int value = end[-1];
        if (readers[value] == 0 && static_cast<unsigned>(nodes[value].op->traits) & bit::elementwise &&
            computes_alike(nodes[value].type)) {
          readers[value] = groups, of[i] = groups, operand_counts[groups] = x.n_inputs;
          all[groups++] = {i, -1, 0, i, nodes[value].shape};
          for (const int* k = e; k != end; ++k)
            if (*k != value) readers[*k] = several;
          e = end;
        }
      }
      if (t & bit::reads_extents) e = end;
      for (const int* last = end + x.n_control; e != last; ++e) readers[*e] = several;
      if (t & bit::writes_operand) next_write[outside(g, edges[x.inputs])] = n - i;
      continue;
    }
    int group = readers[i];
    if (group > 0 && (all[group].size == max_program_steps || !fits(x, i, group))) group = 0;
    if (group <= 0) group = groups++, all[group] = {i, -1, 0, -1, x.shape}, operand_counts[group] = 1;
    next[i] = all[group].first;
    of[i] = group, all[group].first = i, ++all[group].size, --operand_counts[group];
    for (; e != end; ++e)
      if (readers[*e] != group) ++operand_counts[group], readers[*e] = readers[*e] == 0 ? group : several;
    for (int k = 0; k < x.n_control; ++k) readers[end[k]] = several;
  }
  f.groups.count = groups;
  for (int k = 1; k < groups; ++k) {
    if (all[k].size + (all[k].op >= 0) == 1)
      of[all[k].root] = 0;
    else
      ++f.fused;
  }
  return f;
}

}  // namespace flowgraph::passes
