// Nodes that compute nothing: they order, group, pass on or cut.
#pragma once
#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// Done when all that it waits for is: its operands are control edges, as many as there are.
struct group : op<group, "group"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference&) {}
};

constexpr int append_group(graph_data& g, const int* nodes, int n) {
  for (int i = 0; i < n; ++i) g.push_control(nodes[i]);
  const int id = g.append(op_def_of<group>, 0, dtype::none, nullptr, 0);
  g.pop_controls(n);
  return id;
}

}  // namespace flowgraph::ops
