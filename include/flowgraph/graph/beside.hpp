// Nodes that go where another one does: derivatives, and the state that an optimizer keeps for a variable. Where nobody
// asks for a device they ask for nothing either, so that only graphs for several devices pay for it.
#pragma once
#include "device.hpp"
#include "graph_data.hpp"

namespace flowgraph {

constexpr bool asks_for_devices(const graph_data& g) {
  for (int i = 0; i < g.nodes.count; ++i)
    if (g.nodes.data[i].device != 0) return true;
  return false;
}

// The constraint of such nodes: what the other one asks for, or else its place.
constexpr int beside(graph_data& g, int id) {
  const int asked = g.nodes[id].device;
  return asked != 0 ? asked : g.texts.push(g.store(colocation(id).view()));
}

}  // namespace flowgraph
