// Cuts the graph where an edge crosses devices: one send/recv pair for each value and destination, shared by all who
// read it there, and one without a value for control edges. Constants are copied instead.
#pragma once
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include "place.hpp"

namespace flowgraph::passes {

class partitioner {
 public:
  constexpr partitioner(const draft_view& from, placement& p)
      : from_(from.graph),
        p_(p),
        to_(from.graph.nodes.count),
        values_(from.graph.nodes.count),
        entered_(from.graph.edges.count) {
    graph_data& g = result.graph;
    copy_shapes(g, from_);
    g.words = detail::vec<std::int64_t>(from_.words);
    for (int i = 0; i < from_.nodes.count; ++i) copy(i, from.model[i]);
    for (int r = 1; r < from_.regions.count; ++r) {
      region x = from_.regions[r];
      const int results = g.edges.size();
      for (int k = x.results; k < x.results + x.n_results; ++k) g.edges.push(entered_[k] - 1);
      x.results = results;
      if (x.owner >= 0) x.owner = to_[x.owner];
      g.regions.push(x);
    }
    for (const int f : from.fetches) result.fetches.push(to_[f]);
    for (const int f : from.feeds) result.feeds.push(to_[f]);
    p.device = static_cast<detail::vec<int>&&>(device_);
  }

  draft result;

 private:
  constexpr void copy(int i, int model) {
    const node& x = from_.nodes[i];
    const int here = p_.device[i];
    detail::vec<int> edges(x.n_inputs + x.n_control);
    if (x.op->id == ops::argument::id) enter(i);
    for (int k = 0; k < x.n_inputs + x.n_control; ++k) {
      const int e = from_.edges[x.inputs + k];
      if (entered_[x.inputs + k] != 0)
        edges[k] = entered_[x.inputs + k] - 1;
      else
        edges[k] = p_.device[e] == here ? to_[e] : bring(e, here, x.region, k >= x.n_inputs);
    }
    if (x.n_regions != 0) leave_all(x, here, model);
    node y = x;
    y.inputs = result.graph.edges.append(edges.data, edges.count);
    to_[i] = push(y, here, model);
    values_[i] = i;
    if (x.op->is(trait::writes_operand)) values_[outside(from_, from_.inputs(i)[0])] = from_.nodes.count + i;
  }

  // What enters a region is brought to its owner's device before any node of the region; a variable is read and
  // written where it is.
  constexpr void enter(int i) {
    const int owner = from_.regions[from_.nodes[i].region].owner;
    const node& x = from_.nodes[owner];
    const int edge = x.inputs + static_cast<int>(from_.attrs(i)[0]), e = from_.edges[edge];
    if (entered_[edge] != 0) return;
    const bool there = p_.device[e] == p_.device[owner] || p_.device[i] != p_.device[owner];
    entered_[edge] = 1 + (there ? to_[e] : bring(e, p_.device[owner], x.region, false));
  }

  // A device beside the owner's that has nodes in the regions is told what the owner goes by: the choice between
  // branches before them, a loop's condition in every turn.
  constexpr void leave_all(const node& x, int here, int model) {
    const bool loop = x.op->is(trait::iterates);
    const int by = loop ? from_.results(x.first_region)[0] : from_.edges[x.inputs];
    detail::vec<bool> told(p_.devices);
    for (int i = 0; i < from_.nodes.count; ++i) {
      const int device = p_.device[i];
      if (device == here || told[device] || from_.nodes[i].op->is(trait::source) || !is_within(i, x)) continue;
      told[device] = true;
      const int region = loop ? x.first_region : x.region;
      const int known = p_.device[by] == device ? to_[by] : bring(by, device, region, false);
      node s{};
      s.op = &op_def_of<ops::switch_>;
      s.inputs = result.graph.edges.append(&known, 1);
      s.n_inputs = 1;
      s.region = region;
      push(s, device, model);
    }
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
      leave(r, here, loop && r == x.first_region ? 1 : x.outputs);
  }
  constexpr bool is_within(int i, const node& owner) const {
    int r = from_.nodes[i].region;
    while (r > 0 && !(r >= owner.first_region && r < owner.first_region + owner.n_regions)) r = from_.regions[r].parent;
    return r > 0;
  }

  // What a region gives is brought to its owner's device inside the region. Behind its values: what has an effect.
  constexpr void leave(int r, int device, int values) {
    const region& x = from_.regions[r];
    for (int k = x.results; k < x.results + x.n_results; ++k) {
      const int e = from_.edges[k];
      const bool control = k >= x.results + values;
      entered_[k] = 1 + (p_.device[e] == device ? to_[e] : bring(e, device, r, control));
    }
  }

  constexpr int push(const node& x, int device, int model) {
    device_.push(device);
    result.model.push(model);
    return result.graph.nodes.push(x);
  }

  // The node that has value e, or the news that e is done, on another device. A variable's value is sent again after
  // each update of it.
  constexpr int bring(int e, int device, int region, bool control) {
    const node& x = from_.nodes[e];
    std::uint64_t key = detail::mix(static_cast<std::uint64_t>(region) << 1 | control, 0);
    key = detail::mix(key, static_cast<std::uint64_t>(device));
    key = detail::mix(key, static_cast<std::uint64_t>(values_[outside(from_, e)]));
    const int found = brought_.find(key);
    if (found >= 0) return found;
    const bool copied = !control && (x.op->id == ops::constant::id || x.op->id == ops::literal::id);
    const int id = copied ? copy_source(x, device, result.model[to_[e]]) : connect(e, device, region, control);
    brought_.set(key, id);
    return id;
  }

  constexpr int copy_source(node x, int device, int model) {
    x.n_control = 0;
    return push(x, device, model);
  }

  constexpr int connect(int e, int device, int region, bool control) {
    graph_data& g = result.graph;
    const node& x = from_.nodes[e];
    const std::int64_t out[] = {channels_, device}, in[] = {channels_, p_.device[e]};
    ++channels_;
    node s{};
    s.op = &op_def_of<ops::send>;
    s.inputs = g.edges.append(&to_[e], 1);
    s.n_inputs = !control;
    s.n_control = control;
    s.attrs = g.words.append(out, 2);
    s.n_attrs = 2;
    s.region = region;
    const int sent = push(s, p_.device[e], result.model[to_[e]]);
    node r{};
    r.op = &op_def_of<ops::recv>;
    r.inputs = g.edges.append(&sent, 1);
    r.n_control = 1;
    r.attrs = g.words.append(in, 2);
    r.n_attrs = 2;
    r.region = region;
    if (!control) {
      r.outputs = 1;
      r.shape = x.shape;
      r.type = x.type;
    }
    return push(r, device, result.model[to_[e]]);
  }

  graph_view from_;
  placement& p_;
  detail::vec<int> to_;
  detail::vec<int> values_;   // of each node: what a read of it gives now
  detail::vec<int> entered_;  // of each edge into or out of a region: what stands for it + 1
  detail::vec<int> device_;   // of each node of the result
  detail::hash_map brought_;
  std::int64_t channels_ = 0;
};

// False: nothing crosses devices, and nothing is done. Otherwise `cut` is the graph in which every node reads and
// waits for nodes of its own device only, except that a recv waits for its send; the placement is that graph's.
constexpr bool partition(const draft_view& d, placement& p, draft& cut) {
  bool several = false;
  for (int i = 1; i < p.device.count && !several; ++i) several = p.device.data[i] != p.device.data[0];
  if (!several) return false;
  partitioner made(d, p);
  cut = static_cast<draft&&>(made.result);
  return true;
}

}  // namespace flowgraph::passes
