// The order in which one thread would run a step: dependencies first, else as the user wrote it. Updates, and the
// element-wise work that only they read, move up to where their last operand is ready, so that a gradient's memory
// dies as soon as it is applied. Reads and writes of one variable keep their order of creation.
#pragma once
#include "fusion.hpp"
#include "locate.hpp"

namespace flowgraph::passes {

class orderer {
 public:
  constexpr orderer(const draft_view& d, const locations& l, const fusion& f)
      : g_(d.graph),
        at_(l.at.data),
        fusion_(f),
        next_(g_.size()),
        head_(g_.size()),
        region_head_(g_.regions.size()),
        made_(l.constant_nodes.size()),
        constants_(l.constant_nodes) {
    result.reserve(g_.size());
    find_eager(d.fetches);
    collect_region_writes();
    find_times();
    const node* nodes = g_.nodes.data;
    int *head = head_.data, *next = next_.data;
    for (int i = g_.size(); i-- > 0;) {
      int& list = nodes[i].region != 0 ? region_head_[nodes[i].region] : head[when_.data[i]];
      next[i] = list, list = i + 1;
    }
    // The list of time t begins with the node t itself, if that is not eager.
    for (int t = 0, n = g_.size(); t < n; ++t)
      for (int i = head[t]; i != 0; i = next[i - 1]) place(i - 1);
    for (const int i : d.fetches)
      if (needs_elements(at_[i], false)) make_constant(at_[i]);
  }

  detail::vec<int> result;

 private:
  // Eager: an update, or element-wise work for updates alone.
  constexpr void find_eager(detail::slice<int> fetches) {
    const int n = g_.size();
    eager_ = detail::vec<bool>(n);
    detail::vec<bool> storage(n);
    reads_ = detail::vec<int>(n);
    bool *eager = eager_.data, *late = storage.data;  // late: has a reader that is not eager
    int* reads = reads_.data;
    const int* edges = g_.edges.data;
    for (const int f : fetches) late[f] = true;
    for (int i = n; i-- > 0;) {
      const node& x = g_.nodes.data[i];
      const unsigned t = bits(x.op->traits);
      eager[i] = x.region == 0 && ((t & bits(trait::writes_operand)) ||
                                   ((t & (bits(trait::elementwise) | bits(trait::view))) && !late[i]));
      const int *e = edges + x.inputs, *end = e + x.n_inputs;
      if (eager[i])
        for (; e != end; ++e) ++reads[*e];
      else
        for (; e != end; ++e) late[*e] = true;
    }
  }

  // An update inside a region is an update by the owners around it.
  constexpr void collect_region_writes() {
    for (int i = 0; g_.regions.size() > 1 && i < g_.size(); ++i) {
      if (g_.nodes[i].region == 0 || !g_.nodes[i].op->is(trait::writes_operand)) continue;
      int owner = i;
      while (g_.nodes[owner].region != 0) owner = g_.regions[g_.nodes[owner].region].owner;
      region_writes_.push({owner, outside(g_, g_.inputs(i)[0])});
    }
  }

  // when_[i]: node i runs right behind the node of this id, or is it.
  constexpr void find_times() {
    const int n = g_.size();
    when_ = detail::vec<int>(n);
    read_ = detail::vec<int>(n);
    waiting_readers_ = detail::vec<int>(n);
    int *when = when_.data, *read = read_.data;
    const bool* eager = eager_.data;
    const int *edges = g_.edges.data, *group = fusion_.of.data;
    for (int i = 0; i < n; ++i) {
      const node& x = g_.nodes.data[i];
      if (x.region != 0 || bits(x.op->traits) & bits(trait::source)) continue;
      int t = i;
      if (eager[i]) {
        t = 0;
        for (const int *e = edges + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
          if (when[*e] > t) t = when[*e];
        if (bits(x.op->traits) & bits(trait::writes_operand)) {
          const int v = edges[x.inputs];
          if (read[v] > t) t = read[v];
          when[v] = read[v] = t;
          if (waiting_readers_[v] > 0) held_ = i;
        }
      }
      when[i] = t;
      if (t == 0 && i != 0 && !(bits(x.op->traits) & bits(trait::writes_operand))) {
        if (waits(i))
          for (const int e : g_.inputs(i)) ++waiting_readers_[e];
        continue;
      }
      for (const int *e = edges + x.inputs, *end = e + x.n_inputs; e != end; ++e)
        if (when[*e] == 0 && eager[*e] && reads_.data[*e] == 1) follow(*e, t);
      if (group[i] == 0)
        for (const int *e = edges + x.inputs, *end = e + x.n_inputs; e != end; ++e) {
          if (read[*e] < t) read[*e] = t;
        }
      else if (fusion_.groups[group[i]].root == i)
        read_by_group(group[i], t);
      for (const auto& [owner, v] : region_writes_)
        if (owner == i) when[v] = read[v] = t;
    }
  }
  // Work on state and constants alone could run at once, but its memory would then wait: it runs when its only
  // reader does, unless what it reads changes before.
  constexpr bool waits(int i) const { return eager_.data[i] && when_.data[i] == 0 && reads_.data[i] == 1; }
  constexpr void follow(int i, int t) {
    if (i < held_) return;
    when_[i] = t;
    if (fusion_.of[i] != 0 && fusion_.groups[fusion_.of[i]].root == i) read_by_group(fusion_.of[i], t);
    for (const int e : g_.inputs(i)) {
      --waiting_readers_[e];
      if (read_[e] < t) read_[e] = t;
      if (waits(e)) follow(e, t);
    }
  }
  // Members read when their root runs.
  constexpr void read_by_group(int group, int t) {
    for (int m = fusion_.groups[group].first; m >= 0; m = fusion_.next[m])
      for (const int e : g_.inputs(m))
        if (read_[e] < t) read_[e] = t;
  }

  constexpr void place(int i) {
    const node& x = g_.nodes.data[i];
    const unsigned t = bits(x.op->traits);
    const operand& here = at_[i];
    if (here.where != storage::none && (here.where != storage::slot || here.index != i)) return;
    if (x.op->id == ops::output::id || x.op->id == ops::argument::id) return;
    const int group = fusion_.of.data[i];
    if (group != 0 && fusion_.groups.data[group].root != i) return;
    if (!(t & bits(trait::elementwise)))
      for (const int *e = g_.edges.data + x.inputs, *end = e + x.n_inputs; e != end; ++e)
        if (at_[*e].where == storage::constant && at_[*e].shape != 0) make_constant(at_[*e]);
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) place_region(r);
    result.push(i);
  }
  constexpr void place_region(int r) {
    for (int i = region_head_[r]; i != 0; i = next_[i - 1]) place(i - 1);
    for (const int e : g_.results(r))
      if (needs_elements(at_[e], false)) make_constant(at_[e]);
  }
  // Its elements are written right before the first reader that needs them.
  constexpr void make_constant(const operand& o) {
    if (made_[o.index]) return;
    made_[o.index] = true;
    result.push(constants_[o.index]);
  }

  struct region_write {
    int owner, variable;
  };

  graph_view g_;
  const operand* at_;
  const fusion& fusion_;
  detail::vec<int> next_, head_, region_head_;  // lists of nodes, as id + 1
  detail::vec<bool> eager_, made_;
  detail::vec<int> reads_;            // of each node: how many eager ones read it
  detail::vec<int> when_, read_;      // of a variable: when it was last written, last accessed
  detail::vec<int> waiting_readers_;  // of a variable: readers that may still follow theirs
  int held_ = 0;                      // nodes before this one don't follow any more
  detail::vec<region_write> region_writes_;
  const detail::vec<int>& constants_;
};

// The nodes that become instructions, in order. Nodes of a region stand together before their owner.
constexpr detail::vec<int> order(const draft_view& d, const locations& l, const fusion& f) {
  orderer o(d, l, f);
  return static_cast<detail::vec<int>&&>(o.result);
}

}  // namespace flowgraph::passes
