// Which device runs each node, and why. A node's constraint decides: the first device of the list that it matches, or
// the CPU beside it for what that device does not compute. An update goes to its variable, a node of a region without a
// constraint to the region's owner, any other without one to where most bytes of its operands are; what has no operands
// goes to the first device. What enters a region is there where the owner is; a variable stays where it is.
#pragma once
#include <flowgraph/graph/device.hpp>
#include "capabilities.hpp"
#include "prune.hpp"

namespace flowgraph::passes {

struct placement {
  detail::vec<int> device;  // of each node: index into the list of devices
  detail::vec<placed> why;  // of each node; empty where everything is on the first device
  plan_fault fault;         // no_device or no_host, and the model's node that asks for it
  int devices = 1;          // how many there are
};

struct placement_rules {
  bool one_device = false;  // constraints don't matter, everything is on the first device
  bool softly = false;      // a constraint that no device satisfies counts as none
  device_kinds kinds = {};  // those that do not compute everything
};

class placer {
 public:
  constexpr placer(const draft_view& d, const graph_view& model, detail::slice<std::string_view> devices,
                   const placement_rules& rules)
      : g_(d.graph),
        model_(model),
        to_model_(d.model),
        softly_(rules.softly),
        by_text_(model.texts.size()),
        bytes_(g_.shapes.count),
        read_on_(g_.nodes.count),
        sent_(devices.count) {
    const int n = g_.nodes.count;
    result.device = detail::vec<int>(n);
    result.why = detail::vec<placed>(n);
    result.devices = devices.count;
    devices_.reserve(devices.count);
    for (const std::string_view name : devices) {
      devices_.push(able_device(name, rules.kinds));
      choosy_ = choosy_ || !devices_.back().everything;
    }
    if (choosy_) find_needs();
    by_region_ = detail::vec<int>(g_.regions.size());
    for (int r = 1; r < g_.regions.size(); ++r) {
      const int owner = g_.regions[r].owner;
      if (owner >= 0)
        by_region_[r] = able(owner, wanted(owner, by_region_[g_.nodes[owner].region], placed::region)).device;
    }
    for (; placed_ < n; ++placed_) put(placed_);
  }

  placement result;

 private:
  struct place_for {
    int device;
    placed why;
  };

  constexpr void put(int i) {
    const node& x = g_.nodes.data[i];
    place_for at{0, placed::first};
    if (x.op->is(trait::writes_operand))
      at = {result.device[g_.edges.data[x.inputs]], placed::variable};
    else if (x.op->id == ops::output::id)
      at = {result.device[g_.edges.data[x.inputs]], result.why[g_.edges.data[x.inputs]]};
    else if (x.op->id == ops::argument::id)
      at = argument(i);
    else if (x.region != 0)
      at = able(i, wanted(i, by_region_[x.region], placed::region));
    else if (x.n_regions != 0)
      at = able(i, wanted(i, 0, placed::first));
    else
      at = able(i, x.device != 0 ? wanted(i, -1, placed::first) : nearest(i, placed::first));
    result.device[i] = at.device, result.why[i] = at.why;
    for (const int e : g_.inputs(i)) read_on_[e] |= std::uint64_t{1} << at.device % 64;
  }
  constexpr place_for argument(int i) const {
    const int r = g_.nodes[i].region, k = static_cast<int>(g_.attrs(i)[0]), owner = g_.regions[r].owner;
    const int source = outside(g_, g_.inputs(owner)[k]);
    const bool stays = enters_unchanged(g_.nodes[owner], k) && g_.nodes[source].op->id == ops::variable::id;
    return {stays ? result.device[source] : by_region_[r], stays ? placed::variable : placed::region};
  }

  // What the node's constraint says. otherwise: where it goes without one; -1: near its operands.
  constexpr place_for wanted(int i, int otherwise, placed because) {
    int text = g_.nodes.data[i].device;
    int asks = to_model_[i];
    // Beside another node: where that is, or, where the step does not have it, what that one asks for.
    for (int beside = text == 0 ? -1 : colocated_with(asked(text)); beside >= 0;) {
      if (const int there = in_draft(beside); there >= 0) return {result.device[there], placed::beside};
      asks = beside;
      text = model_.nodes[beside].device;
      beside = text == 0 ? -1 : colocated_with(asked(text));
    }
    const int found = text == 0 ? -1 : look_up(text);
    if (found >= 0) return {found, asks == to_model_[i] ? placed::asked : placed::beside};
    if (text != 0 && !softly_ && result.fault.why == problem::none) result.fault = {problem::no_device, asks};
    if (text != 0) because = placed::softly;
    return otherwise < 0 ? nearest(i, because) : place_for{otherwise, because};
  }
  constexpr std::string_view asked(int text) const { return model_.text(model_.texts[text]); }
  // The device that a constraint means; -1: there is none.
  constexpr int look_up(int text) {
    int& found = by_text_[text];
    if (found != 0) return found - 2;
    found = 1;
    const device_name wanted = parse_device(asked(text));
    for (int k = 0; k < devices_.count && found == 1; ++k)
      if (wanted.matches(devices_[k].name)) found = k + 2;
    return found - 2;
  }
  // Of a node of the model that is placed already; -1: it is not.
  constexpr int in_draft(int of) {
    if (drafts_.count == 0) drafts_ = detail::vec<int>(model_.nodes.count);
    for (; seen_ < placed_; ++seen_) drafts_[to_model_[seen_]] = seen_ + 1;
    return drafts_[of] - 1;
  }

  // Where most bytes of its operands are or have been sent; of equals where a variable is, then the first. Without
  // operands, where what it waits for is.
  constexpr place_for nearest(int i, placed because) {
    const node& x = g_.nodes.data[i];
    for (std::int64_t& s : sent_) s = 0;
    bool any = false;
    for (int k = 0; k < x.n_inputs; ++k) {
      const int e = g_.edges.data[x.inputs + k];
      const std::uint64_t op = g_.nodes.data[e].op->id;
      if (op == ops::constant::id || op == ops::literal::id) continue;
      const std::int64_t there = 2 * bytes(g_.nodes.data[e]) + (op == ops::variable::id);
      for (int d = 0; d < sent_.count; ++d)
        if (d == result.device[e] || (read_on_[e] >> d % 64 & 1) != 0) sent_[d] += there;
      any = true;
    }
    for (int k = x.n_inputs; k < x.n_inputs + x.n_control && !any; ++k)
      ++sent_[result.device[g_.edges.data[x.inputs + k]]];
    int most = 0;
    for (int k = 1; k < sent_.count; ++k)
      if (sent_[k] > sent_[most]) most = k;
    if (because == placed::first && sent_[most] > 0) because = placed::operands;
    return {most, because};
  }
  // Every name counts as 32.
  constexpr std::int64_t bytes(const node& x) {
    std::int64_t& n = bytes_[x.shape];
    if (n == 0) {
      n = 1;
      const shape_entry& s = g_.shapes[x.shape];
      for (const extent *e = g_.dims.data + s.dims, *end = e + s.rank; e != end; ++e) n *= *e < 0 ? 32 : *e;
    }
    return n * size_of(x.type);
  }

  // The CPU beside a device that does not compute this.
  constexpr place_for able(int i, place_for at) {
    if (!choosy_ || (devices_[at.device].computes(g_, g_.nodes[i]) && (needs_.count == 0 || !needs_[i]))) return at;
    const device_name& there = devices_[at.device].name;
    for (int k = 0; k < devices_.count; ++k)
      if (devices_[k].name.kind == "cpu" && devices_[k].name.job == there.job && devices_[k].name.task == there.task)
        return {k, placed::host};
    if (result.fault.why == problem::none) result.fault = {problem::no_host, to_model_[i]};
    return at;
  }
  // A variable is where all its updates are computed.
  constexpr void find_needs() {
    needs_ = detail::vec<bool>(g_.nodes.count);
    for (int i = 0; i < g_.nodes.count; ++i) {
      const node& x = g_.nodes[i];
      if (!x.op->is(trait::writes_operand)) continue;
      const int variable = outside(g_, g_.edges[x.inputs]);
      needs_[variable] = needs_[variable] || !devices_[wanted(variable, 0, placed::first).device].computes(g_, x);
    }
  }

  graph_view g_;
  const graph_view& model_;
  detail::slice<int> to_model_;
  bool softly_;
  bool choosy_ = false;  // there is a device that does not compute everything
  detail::vec<able_device> devices_;
  int placed_ = 0, seen_ = 0;           // nodes
  detail::vec<int> drafts_;             // by node of the model: its node here + 1
  detail::vec<int> by_text_;            // what look_up says + 2; 0: not looked up yet
  detail::vec<int> by_region_;          // devices
  detail::vec<std::int64_t> bytes_;     // elements, by shape
  detail::vec<std::uint64_t> read_on_;  // of each node: devices that read it
  detail::vec<std::int64_t> sent_;      // by device
  detail::vec<bool> needs_;             // of a variable: its device does not compute an update of it
};

// The model has the texts of the constraints.
constexpr placement place(const draft_view& d, const graph_view& model, detail::slice<std::string_view> devices,
                          const placement_rules& rules = {}) {
  const graph_view& g = d.graph;
  bool asked = rules.kinds.count != 0;
  for (int i = 0; i < g.nodes.count && !asked; ++i) asked = g.nodes.data[i].device != 0;
  if (rules.one_device || !asked) {
    placement p;
    p.device = detail::vec<int>(g.nodes.count);
    p.devices = devices.count;
    return p;
  }
  placer made(d, model, devices, rules);
  return static_cast<placement&&>(made.result);
}

}  // namespace flowgraph::passes
