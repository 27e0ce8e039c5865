// What a step on several devices changes comes last: a device that updates variables has received before all that does
// not follow from an update. A step that loses a device while it waits has changed nothing.
#pragma once
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include "place.hpp"

namespace flowgraph::passes {

constexpr int outermost_owner(const graph_view& g, int region) {
  while (g.regions[region].parent > 0) region = g.regions[region].parent;
  return g.regions[region].owner;
}

// Of each node: does it update a variable, or come after one that does, by a value, a control edge, a read of the
// variable, or as an effect after others? A loop or a branch is late as a whole.
constexpr detail::vec<bool> find_late(const graph_view& g) {
  detail::vec<bool> late(g.nodes.count), written(g.nodes.count);
  bool effects = false;
  for (int i = 0; i < g.nodes.count; ++i) {
    const node& x = g.nodes[i];
    const bool updates = x.op->is(trait::writes_operand),
               effect = x.op->is(trait::stateful) && !updates && x.op->id != ops::group::id;
    bool is = late[i] || updates || (effect && effects);
    for (int k = 0; k < x.n_inputs + x.n_control && !is; ++k) {
      // What enters regions unchanged is read there, or nowhere.
      if (x.n_regions != 0 && k < x.n_inputs && k > 0 && enters_unchanged(x, k)) continue;
      const int e = g.edges[x.inputs + k], source = outside(g, e);
      is = late[e] || late[source] || written[source];
    }
    if (!is) continue;
    late[i] = true;
    effects = effects || effect;
    if (updates) written[outside(g, g.inputs(i)[0])] = true;
    for (int r = x.region; r > 0; r = g.regions[r].parent) late[g.regions[r].owner] = true;
  }
  for (int i = 0; i < g.nodes.count; ++i)
    if (g.nodes[i].region != 0) late[i] = late[outermost_owner(g, g.nodes[i].region)];
  return late;
}

class late_placer {
 public:
  // A graph that has been cut, its placement, and which of its nodes are late.
  constexpr late_placer(const draft& cut, const placement& p, const detail::vec<bool>& late)
      : from_(cut.graph.view()),
        late_(late),
        on_(p.device),
        new_(from_.nodes.count),
        updates_(from_.nodes.count),
        receives_(from_.nodes.count) {
    graph_data& g = result.graph;
    copy_shapes(g, from_);
    g.words = detail::vec<std::int64_t>(from_.words);
    placed_at.devices = p.devices;
    find_owners();
    for (int i = 0; i < from_.nodes.count; ++i)
      if (!late_[i]) copy(i, cut, p, 0);
    detail::vec<int> barrier(p.devices);
    for (int d = 0; d < p.devices; ++d) barrier[d] = make_barrier(d);
    for (int i = 0; i < from_.nodes.count; ++i)
      if (late_[i]) copy(i, cut, p, updates_[i] && from_.nodes[i].region == 0 ? barrier[on_[i]] : 0);
    for (int r = 1; r < from_.regions.count; ++r) {
      region x = from_.regions[r];
      const int first = g.edges.count;
      for (const int e : from_.results(r)) g.edges.push(new_[e]);
      g.regions.push({x.owner < 0 ? -1 : new_[x.owner], x.parent, first, x.n_results});
    }
    for (const int f : cut.fetches) result.fetches.push(new_[f]);
    for (const int f : cut.feeds) result.feeds.push(new_[f]);
  }

  draft result;
  placement placed_at;

 private:
  // What happens within a loop or a choice of the step happens at its owner.
  constexpr void find_owners() {
    for (int i = 0; i < from_.nodes.count; ++i) {
      const node& x = from_.nodes[i];
      const int at = x.region == 0 ? i : outermost_owner(from_, x.region);
      if (x.op->is(trait::writes_operand)) updates_[at] = true;
      if (x.op->id == ops::recv::id) receives_[at] = true;
    }
  }
  // barrier: a node of the result that it waits for, too, + 1.
  constexpr void copy(int i, const draft& cut, const placement& p, int barrier) {
    node x = from_.nodes[i];
    detail::vec<int> edges;
    for (int k = x.inputs; k < x.inputs + x.n_inputs + x.n_control; ++k) edges.push(new_[from_.edges[k]]);
    if (barrier != 0) edges.push(barrier - 1), ++x.n_control;
    x.inputs = result.graph.edges.append(edges.data, edges.count);
    new_[i] = push(x, p.device[i], p.why[i], cut.model[i]);
  }
  constexpr int push(const node& x, int device, placed why, int model) {
    placed_at.device.push(device);
    placed_at.why.push(why);
    result.model.push(model);
    return result.graph.nodes.push(x);
  }
  // On a device that updates variables: done when all is received that comes before. 0: there is nothing.
  constexpr int make_barrier(int device) {
    bool needed = false;
    detail::vec<int> before;
    int last = 0;
    for (int i = 0; i < from_.nodes.count; ++i) {
      if (on_[i] != device || from_.nodes[i].region != 0) continue;
      needed = needed || updates_[i];
      if (receives_[i] && !late_[i]) before.push(new_[i]), last = i;
    }
    if (!needed || before.count == 0) return 0;
    node x{};
    x.op = &op_def_of<ops::group>;
    x.inputs = result.graph.edges.append(before.data, before.count);
    x.n_control = static_cast<std::uint16_t>(before.count);
    return 1 + push(x, device, placed::crossing, result.model[new_[last]]);
  }

  graph_view from_;
  const detail::vec<bool>& late_;
  detail::slice<int> on_;
  detail::vec<int> new_;
  detail::vec<bool> updates_, receives_;  // of each node of the step: within it, if it is an owner
};

}  // namespace flowgraph::passes
