// What a value is made of, and what it is not: a derivative by that is a mistake. Apart from the derivatives
// themselves.
#pragma once
#include <flowgraph/graph/graph_data.hpp>

namespace flowgraph::passes {

// Is the loss made of node x in any way, or of a derivative, which may have lost x on its way: that of a x + b by x?
constexpr bool uses(const graph_data& g, int x, int loss) {
  detail::vec<bool> reached(loss + 1);
  reached[loss] = true;
  for (int i = loss; i > 0; --i) {
    if (!reached.data[i]) continue;
    const node& n = g.nodes.data[i];
    for (const int* in = g.edges.data + n.inputs, *end = in + n.n_inputs; in != end; ++in) reached.data[*in] = true;
  }
  for (const int d : g.derivatives)
    if (d <= loss && reached[d]) return true;
  return x <= loss && reached[x];
}

}  // namespace flowgraph::passes
