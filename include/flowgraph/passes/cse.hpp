// Common subexpressions: of nodes that compute the same from the same, one stays. Never merged: what has an effect,
// draws numbers, is fed, or has no value.
#pragma once
#include "prune.hpp"

namespace flowgraph::passes {

// Returns how many nodes were merged into earlier ones. They are dead now.
constexpr int cse(draft& d) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15ull;  // as in detail::mix, without a call for each word
  constexpr unsigned single = bits(trait::stateful) | bits(trait::random);
  graph_data& g = d.graph;
  const int n = g.nodes.count;
  detail::vec<int> storage(n), values(n);
  // to: what stands for a node + 1, 0: itself. value: what a read of a node gives; a variable gives another value
  // after each update, so that reads before and after stay apart.
  int *to = storage.data, *value = values.data, *edges = g.edges.data, changed = 0, writes = 0;
  const node* nodes = g.nodes.data;
  detail::hash_map seen;
  seen.reserve(n);
  for (int i = 0; i < n; ++i) {
    const node& x = nodes[i];
    int *e = edges + x.inputs, *inputs_end = e + x.n_inputs, *end = inputs_end + x.n_control;
    if (changed != 0)
      for (int* k = e; k != end; ++k)
        if (to[*k] != 0) *k = to[*k] - 1;
    value[i] = i;
    const unsigned t = bits(x.op->traits);
    if (t & single || x.type == dtype::none || x.n_regions != 0 || x.op->id == ops::placeholder::id) {
      if (t & bits(trait::writes_operand)) value[outside(g.view(), *e)] = n + writes++;
      continue;
    }
    std::uint64_t h = (x.op->id ^ static_cast<std::uint64_t>(x.region) ^ static_cast<std::uint64_t>(x.shape) << 32 ^
                       static_cast<std::uint64_t>(x.device) << 48 ^ static_cast<std::uint64_t>(x.type) << 60) *
                      factor;
    if (x.region != 0)  // a variable that enters a region changes there like anywhere
      for (const int* k = e; k != inputs_end; ++k) value[*k] = value[outside(g.view(), *k)];
    if (t & bits(trait::commutative) && value[e[0]] > value[e[1]]) {
      h = (h ^ static_cast<std::uint64_t>(value[e[1]])) * factor, h ^= h >> 29;
      h = (h ^ static_cast<std::uint64_t>(value[e[0]])) * factor, h ^= h >> 29;
    } else {
      for (; e != inputs_end; ++e) h = (h ^ static_cast<std::uint64_t>(value[*e])) * factor, h ^= h >> 29;
    }
    for (const std::int64_t *w = g.words.data + x.attrs, *last = w + x.n_attrs; w != last; ++w)
      h = (h ^ static_cast<std::uint64_t>(*w)) * factor, h ^= h >> 29;
    for (e = inputs_end; e != end; ++e) h = (h ^ ~static_cast<std::uint64_t>(*e)) * factor, h ^= h >> 29;
    const int found = seen.find_or_set(h, i);
    if (found < 0) continue;
    to[i] = found + 1;
    ++changed;
    if (x.outputs <= 1) continue;
    for (int k = 1; k <= x.outputs; ++k) to[i + k] = found + k + 1;
    i += x.outputs;
  }
  if (changed == 0) return 0;
  for (const region& r : g.regions)
    for (int k = r.results; k < r.results + r.n_results; ++k)
      if (to[edges[k]] != 0) edges[k] = to[edges[k]] - 1;
  for (int& f : d.fetches)
    if (to[f] != 0) f = to[f] - 1;
  return changed;
}

}  // namespace flowgraph::passes
