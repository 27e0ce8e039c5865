// Common subexpressions: of nodes that compute the same from the same, one stays. Never merged: what has an effect,
// draws numbers, is fed, or has no value.
#pragma once
#include "prune.hpp"

namespace flowgraph::passes {

// Returns how many nodes were merged into earlier ones. They are dead now.
constexpr int cse(draft& d) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15ull;  // as in detail::mix, without a call for each word
  graph_data& g = d.graph;
  const int n = g.nodes.count;
  int size = 64;
  while (size < 2 * n) size *= 2;
  detail::vec<int> to_storage(n), value_storage(n), table_storage(size);
  detail::vec<std::uint64_t> hash_storage(n);
  // to: what stands for a node + 1, 0: itself. value: what a read of a node gives; a variable gives another value
  // after each update, so that reads before and after stay apart. table: nodes + 1 by hash, open addressing.
  int *to = to_storage.data, *value = value_storage.data, *table = table_storage.data, *edges = g.edges.data;
  int changed = 0, writes = 0;
  detail::vec<int> several;  // merged nodes with several results
  std::uint64_t* hashes = hash_storage.data;
  const std::uint64_t mask = static_cast<unsigned>(size - 1);
  const node* nodes = g.nodes.data;
  const std::int64_t* words = g.words.data;
  for (int i = 0; i < n; ++i) {
    const node& x = nodes[i];
    const unsigned t = static_cast<unsigned>(x.op->traits);
    const int *e = edges + x.inputs, *end = e + x.n_inputs;
    value[i] = i;
    if (t & (bit::stateful | bit::random) || x.type == dtype::none || x.n_regions != 0 ||
        x.op->id == ops::placeholder::id) {
      if (t & bit::writes_operand) value[outside(g.view(), *e)] = n + writes++;
      continue;
    }
    std::uint64_t h = (x.op->id ^ static_cast<std::uint64_t>(x.region) ^ static_cast<std::uint64_t>(x.shape) << 32 ^
                       static_cast<std::uint64_t>(x.device) << 48 ^ static_cast<std::uint64_t>(x.type) << 60) *
                      factor;
    h ^= h >> 29;       // the type is in the highest bits, and so is the sign of a constant: they must not meet
    if (x.region != 0)  // a variable that enters a region changes there like anywhere
      for (const int* k = e; k != end; ++k) value[*k] = value[outside(g.view(), *k)];
    if (t & bit::commutative && value[e[0]] > value[e[1]]) {
      h = (h ^ static_cast<std::uint64_t>(value[e[1]])) * factor, h ^= h >> 29;
      h = (h ^ static_cast<std::uint64_t>(value[e[0]])) * factor, h ^= h >> 29;
    } else {
      for (; e != end; ++e) h = (h ^ static_cast<std::uint64_t>(value[*e])) * factor, h ^= h >> 29;
    }
    for (const std::int64_t *w = words + x.attrs, *last = w + x.n_attrs; w != last; ++w)
      h = (h ^ static_cast<std::uint64_t>(*w)) * factor, h ^= h >> 29;
    for (int k = 0; k < x.n_control; ++k)
      h = (h ^ ~static_cast<std::uint64_t>(value[edges[x.inputs + x.n_inputs + k]])) * factor, h ^= h >> 29;
    std::uint64_t at = (h ^ h >> 32) & mask;
    while (table[at] != 0 && hashes[table[at] - 1] != h) at = (at + 1) & mask;
    if (table[at] == 0) {
      table[at] = i + 1, hashes[i] = h;
      continue;
    }
    to[i] = table[at], value[i] = table[at] - 1, ++changed;
    if (x.outputs <= 1) continue;
    several.push(i);
    for (int k = 1; k <= x.outputs; ++k) to[i + k] = table[at] + k, value[i + k] = table[at] - 1 + k;
    i += x.outputs;
  }
  if (changed == 0) return 0;
  for (int k = 0; k < g.edges.count; ++k)
    if (to[edges[k]] != 0) edges[k] = to[edges[k]] - 1;
  for (const int i : several)
    for (int k = 1; k <= nodes[i].outputs; ++k) edges[nodes[i + k].inputs] = i;  // dead outputs stay at their node
  for (int& f : d.fetches)
    if (to[f] != 0) f = to[f] - 1;
  return changed;
}

}  // namespace flowgraph::passes
