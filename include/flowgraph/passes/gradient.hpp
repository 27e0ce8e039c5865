// Reverse-mode differentiation of a graph on values: derivatives of one node by others, as nodes behind those that are
// there. The sweep is differentiator.hpp.
#pragma once
#include "differentiator.hpp"

namespace flowgraph::passes {

// Appends what computes d loss / d xs[k] and writes its node to result[k]. Where the loss does not depend on
// xs[k], that is a constant zero. An op without a gradient on the way is a fault that names it.
FLOWGRAPH_CONSTEXPR void gradient(graph_data& g, int loss, const int* xs, int n, int* result) {
  const int region = g.nodes[loss].region;
  int size = loss + 1;
  if (g.nodes[loss].op->id == ops::output::id) {  // with all results of its node
    const int owner = g.inputs(loss)[0];
    size = owner + 1 + g.nodes[owner].outputs;
  }
  detail::vec<int> inside(n);  // a value from outside of the region that is being built enters it
  int lowest = size;
  for (int k = 0; k < n; ++k) {
    inside[k] = g.capture(xs[k], region);
    if (inside[k] < lowest) lowest = inside[k];
  }
  differentiator d(g, region, lowest, size);
  for (const int x : inside)
    if (x < size) d.want(x);
  d.find_wanted();
  if (d.wanted(loss)) d.add(loss, ops::full_like({&g, loss}, 1));
  d.sweep();
  for (int k = 0; k < n; ++k) result[k] = d.sum(inside[k]) >= 0 ? d.sum(inside[k]) : ops::full_like({&g, xs[k]}, 0).id;
}

}  // namespace flowgraph::passes
