// What a graph would cost to run once, for given extents.
#pragma once
#include <cstdint>

#include <flowgraph/core/dim.hpp>
#include "prune.hpp"

namespace flowgraph::passes {

// Floating-point operations of the nodes that the fetches need, as the ops count them: one for each element of a
// result where an op says nothing. A region counts once, as often as its owner's rule does not say. -1: an extent is
// not bound.
constexpr std::int64_t flops(const graph_view& model, detail::slice<int> fetches, detail::slice<binding> bindings) {
  const draft d = prune(model, {fetches, {}}, true);
  const graph_view g = d.graph.view();
  const auto lookup = [&](std::string_view name) {
    for (const binding& b : bindings)
      if (b.name == name) return b.value;
    return std::int64_t{-1};
  };
  detail::vec<std::int64_t> symbols(g.symbol_entries.count);
  for (int i = 0; i < symbols.count; ++i) symbols[i] = detail::evaluate_extent(g.symbol_text(-1 - i), lookup);
  bool bound = true;
  const auto numbers = [&](int id) {
    extents e = g.shape_of(id);
    for (int i = 0; i < e.rank; ++i)
      if (e[i] < 0) {
        e[i] = symbols[static_cast<int>(-1 - e[i])];
        bound = bound && e[i] >= 0;
      }
    return e;
  };

  std::int64_t sum = 0;
  for (int i = 0; i < g.size() && bound; ++i) {
    const node& x = g.nodes[i];
    if (x.type == dtype::none && !x.op->is(trait::has_flops) && x.n_inputs == 0) continue;
    if (x.op->is(trait::source) || x.op->is(trait::view) || x.op->id == ops::output::id) continue;
    detail::vec<extents> in(x.n_inputs);
    for (int k = 0; k < x.n_inputs; ++k) in[k] = numbers(g.inputs(i)[k]);
    // An update works on its variable's elements.
    const extents out = x.type == dtype::none && x.n_inputs > 0 ? in[0] : numbers(i);
    if (x.op->is(trait::has_flops)) {
      sum += x.op->flops(cost_query(in.data, out, g.words.data + x.attrs));
      continue;
    }
    std::int64_t elements = 1;
    for (int k = 0; k < out.rank; ++k) elements *= out[k];
    sum += elements;
  }
  return bound ? sum : -1;
}

}  // namespace flowgraph::passes
