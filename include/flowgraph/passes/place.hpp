// Which device runs each node. A node's constraint decides: the first device in the list that it matches. An update
// goes to its variable, a node of a region without a constraint to the region's owner, everything else without one
// to the first device. What enters a region is there where the owner is; a variable stays where it is.
#pragma once
#include <flowgraph/graph/device.hpp>
#include "prune.hpp"

namespace flowgraph::passes {

struct placement {
  detail::vec<int> device;  // of each node: index into the list of devices
  plan_fault fault;         // no_device, and the model's node that asks for it
  int devices = 1;          // how many there are
};

constexpr int place_argument(const graph_view& g, int i, const int* device, const detail::vec<int>& by_region) {
  const int r = g.nodes[i].region, k = static_cast<int>(g.attrs(i)[0]);
  const int inside = g.inputs(g.regions[r].owner)[k], source = outside(g, inside);
  const bool stays = enters_unchanged(g.nodes[g.regions[r].owner], k) && g.nodes[source].op->id == ops::variable::id;
  return stays ? device[source] : by_region[r];
}

// The model has the texts of the constraints. one_device: they don't matter.
constexpr placement place(const draft_view& d, const graph_view& model, detail::slice<std::string_view> devices,
                          bool one_device = false) {
  const graph_view& g = d.graph;
  const int n = g.size();
  placement p;
  p.device = detail::vec<int>(n);
  p.devices = devices.count;
  bool asked = g.regions.count > 1;
  for (int i = 0; i < n && !asked; ++i) asked = g.nodes.data[i].device != 0;
  if (one_device || !asked) return p;
  int* device = p.device.data;
  detail::vec<int> by_text(model.texts.size());  // device + 1 for each constraint; 0: not looked up yet
  detail::vec<int> by_region(g.regions.size());

  const auto match = [&](int text, int id, int otherwise) {
    if (text == 0) return otherwise;
    int& found = by_text[text];
    if (found == 0) {
      const device_name wanted = parse_device(model.text(model.texts[text]));
      for (int k = 0; k < devices.count && found == 0; ++k)
        if (wanted.matches(parse_own_device(devices[k]))) found = k + 1;
    }
    if (found == 0 && p.fault.why == problem::none) p.fault = {problem::no_device, d.model[id]};
    return found == 0 ? 0 : found - 1;
  };

  for (int r = 1; r < g.regions.size(); ++r) {
    const int owner = g.regions[r].owner;
    if (owner >= 0) by_region[r] = match(g.nodes[owner].device, owner, by_region[g.nodes[owner].region]);
  }
  for (int i = 0; i < n; ++i) {
    const node& x = g.nodes.data[i];
    if (x.op->is(trait::writes_operand))
      device[i] = device[g.edges.data[x.inputs]];
    else if (x.device != 0 || x.region != 0)
      device[i] = match(x.device, i, by_region[x.region]);
    if (x.op->id == ops::output::id) device[i] = device[g.edges.data[x.inputs]];
    if (x.op->id == ops::argument::id) device[i] = place_argument(g, i, device, by_region);
  }
  return p;
}

}  // namespace flowgraph::passes
