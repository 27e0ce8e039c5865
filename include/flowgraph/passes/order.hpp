// The order in which one thread would run a step: dependencies first, else as the user wrote it. Updates, and the
// element-wise work that only they read, move up to where their last operand is ready, so that a gradient's memory
// dies as soon as it is applied. Reads and writes of one variable keep their order of creation.
#pragma once
#include "fusion.hpp"
#include "locate.hpp"

namespace flowgraph::passes {

// In a sequence of n nodes: where the regions of an owner begin (0) and where the k-th of them ends (k).
constexpr int flow_code(int owner, int k, int n) { return owner + n * (1 + k); }

class orderer {
 public:
  constexpr orderer(const draft_view& d, const locations& l, const fusion& f)
      : g_(d.graph),
        n_(g_.nodes.count),
        at_(l.at.data),
        constants_(l.constant_nodes.data),
        group_(f.of.data),
        next_member_(f.next.data),
        groups_(f.groups.data),
        eager_(n_),
        reads_(n_),
        when_(n_),
        accessed_(n_),
        waiting_readers_(n_),
        made_(l.constant_nodes.count) {
    find_eager(d.fetches);
    if (g_.regions.count > 1) collect_region_writes();
    find_times();
    write_down(d.fetches);
  }

  detail::vec<int> result;

 private:
  // Eager: an update, or element-wise work that only eager nodes read.
  constexpr void find_eager(detail::slice<int> fetches) {
    detail::vec<bool> storage(n_);
    bool *eager = eager_.data, *late = storage.data;  // late: has a reader that is not eager
    int* reads = reads_.data;
    const int* edges = g_.edges.data;
    const node* nodes = g_.nodes.data;
    for (const int f : fetches) late[f] = true;
    for (int i = n_; i-- > 0;) {
      const node& x = nodes[i];
      const int *e = edges + x.inputs, *end = e + x.n_inputs;
      eager[i] = x.region == 0 &&
                 static_cast<unsigned>(x.op->traits) & (bit::elementwise | bit::view | bit::writes_operand) &&
                 (!late[i] || static_cast<unsigned>(x.op->traits) & bit::writes_operand);
      if (eager[i])
        for (; e != end; ++e) ++reads[*e];
      else
        for (; e != end; ++e) late[*e] = true;
    }
  }

  // An update inside a region is an update by the owner around it all.
  constexpr void collect_region_writes() {
    for (int i = 0; i < n_; ++i) {
      if (g_.nodes[i].region == 0 || !g_.nodes[i].op->is(trait::writes_operand)) continue;
      int owner = i;
      while (g_.nodes[owner].region != 0) owner = g_.regions[g_.nodes[owner].region].owner;
      region_writes_.push({owner, outside(g_, g_.inputs(i)[0])});
    }
  }

  // when_[i]: node i runs right behind the node of this id, or is it. Of a variable: when it was written last.
  constexpr void find_times() {
    int *when = when_.data, *accessed = accessed_.data;
    const bool* eager = eager_.data;
    const int *edges = g_.edges.data, *group = group_, *reads = reads_.data;
    const node* nodes = g_.nodes.data;
    const bool region_writes = region_writes_.count > 0;
    for (int i = 0; i < n_; ++i) {
      const node& x = nodes[i];
      if (static_cast<unsigned>(x.op->traits) & bit::source || x.region != 0) continue;
      const int *e = edges + x.inputs, *end = e + x.n_inputs;
      int t = i;
      if (eager[i]) {
        t = 0;
        for (const int *k = e, *last = end + x.n_control; k != last; ++k)
          if (when[*k] > t) t = when[*k];
        const bool update = static_cast<unsigned>(x.op->traits) & bit::writes_operand;
        if (update) {
          if (accessed[*e] > t) t = accessed[*e];
          when[*e] = accessed[*e] = t;
          if (waiting_readers_.data[*e] > 0) held_ = i;
        }
        if (t == 0 && !update) {
          if (reads[i] == 1)
            for (; e != end; ++e) ++waiting_readers_.data[*e];
          continue;
        }
        for (const int* k = e; k != end; ++k)
          if (when[*k] == 0 && reads[*k] == 1 && eager[*k]) follow(*k, t);
      }
      when[i] = t;
      if (group[i] == 0)
        for (; e != end; ++e) accessed[*e] = accessed[*e] < t ? t : accessed[*e];
      else if (groups_[group[i]].root == i)
        read_by_group(group[i], t);
      if (region_writes) write_by_region(i);
    }
  }
  // Work on state and constants alone could run at once, but its memory would then wait: it runs when its only
  // reader does, unless what it reads changes before.
  constexpr void follow(int i, int t) {
    if (i < held_) return;
    when_.data[i] = t;
    if (group_[i] != 0 && groups_[group_[i]].root == i) read_by_group(group_[i], t);
    for (const int *e = g_.edges.data + g_.nodes.data[i].inputs, *end = e + g_.nodes.data[i].n_inputs; e != end; ++e) {
      --waiting_readers_.data[*e];
      if (accessed_.data[*e] < t) accessed_.data[*e] = t;
      if (eager_.data[*e] && when_.data[*e] == 0 && reads_.data[*e] == 1) follow(*e, t);
    }
  }
  // Members read when their root runs.
  constexpr void read_by_group(int group, int t) {
    if (groups_[group].op >= 0) read_by(groups_[group].op, t);
    for (int m = groups_[group].first; m >= 0; m = next_member_[m]) read_by(m, t);
  }
  constexpr void read_by(int m, int t) {
    int* accessed = accessed_.data;
    for (const int *e = g_.edges.data + g_.nodes.data[m].inputs, *end = e + g_.nodes.data[m].n_inputs; e != end; ++e)
      accessed[*e] = accessed[*e] < t ? t : accessed[*e];
  }
  constexpr void write_by_region(int owner) {
    for (const region_write& w : region_writes_)
      if (w.owner == owner) when_[w.variable] = accessed_[w.variable] = owner;
  }

  // The list of time t begins with the node t itself, if that is not eager; the list of a region has its nodes.
  constexpr void write_down(detail::slice<int> fetches) {
    detail::vec<int> next_storage(n_), head_storage(n_);
    region_head_ = detail::vec<int>(g_.regions.count);
    result = detail::vec<int>(n_ + 2 * g_.regions.count);
    int *next = next_storage.data, *head = head_storage.data;  // as id + 1
    const int* when = when_.data;
    const node* nodes = g_.nodes.data;
    next_ = next;
    for (int i = n_; i-- > 0;) {
      if (!is_instruction(nodes[i], at_[i], group_[i], i)) continue;
      int& list = nodes[i].region == 0 ? head[when[i]] : region_head_.data[nodes[i].region];
      next[i] = list, list = i + 1;
    }
    for (int t = 0; t < n_; ++t)
      for (int i = head[t]; i != 0; i = next[i - 1]) place(i - 1);
    for (const int f : fetches)
      if (needs_elements(at_[f], false)) make_constant(at_[f]);
    result.count = count_;
  }
  constexpr bool is_instruction(const node& x, const operand& at, int group, int i) const {
    return (at.where == storage::none || (at.where == storage::slot && at.index == i)) && x.op->id != ops::output::id &&
           x.op->id != ops::argument::id && (group == 0 || groups_[group].root == i);
  }

  constexpr void place(int i) {
    const node& x = g_.nodes.data[i];
    if (x.n_regions != 0) return place_owner(i, x);
    make_constants_for(i);
    result.data[count_++] = i;
  }
  constexpr void make_constants_for(int i) {
    const int op = group_[i] == 0 ? i : groups_[group_[i]].op;
    if (op >= 0 && !(static_cast<unsigned>(g_.nodes.data[op].op->traits) & (bit::elementwise | bit::reads_extents)))
      for (const int *e = g_.edges.data + g_.nodes.data[op].inputs, *end = e + g_.nodes.data[op].n_inputs; e != end;
           ++e)
        if (at_[*e].where == storage::constant && at_[*e].shape != 0) make_constant(at_[*e]);
  }
  // A region may run never or often: constants that it needs are written before it.
  constexpr void place_owner(int i, const node& x) {
    if (x.region == 0)
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) make_constants_within(r);
    result.data[count_++] = flow_code(i, 0, n_);
    for (int k = 0; k < x.n_regions; ++k) {
      for (int m = region_head_[x.first_region + k]; m != 0; m = next_[m - 1]) place(m - 1);
      result.data[count_++] = flow_code(i, k + 1, n_);
    }
    result.data[count_++] = i;
  }
  constexpr void make_constants_within(int region) {
    for (int m = region_head_[region]; m != 0; m = next_[m - 1]) {
      const node& x = g_.nodes[m - 1];
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) make_constants_within(r);
      if (x.n_regions == 0) make_constants_for(m - 1);
    }
  }
  // Its elements are written right before the first reader that needs them.
  constexpr void make_constant(const operand& o) {
    if (made_[o.index]) return;
    made_[o.index] = true;
    result.data[count_++] = constants_[o.index];
  }

  struct region_write {
    int owner, variable;
  };

  graph_view g_;
  int n_;
  const operand* at_;
  const int* constants_;
  const int* group_;
  const int* next_member_;
  const fusion::group* groups_;
  detail::vec<bool> eager_;
  detail::vec<int> reads_;            // of each node: how many eager ones read it
  detail::vec<int> when_, accessed_;  // accessed: of a variable, when it was last read or written
  detail::vec<int> waiting_readers_;  // of a variable: readers that may still follow theirs
  detail::vec<bool> made_;            // of each constant: its elements are written
  detail::vec<int> region_head_;
  detail::vec<region_write> region_writes_;
  const int* next_ = nullptr;
  int held_ = 0;  // nodes before this one don't follow any more
  int count_ = 0;
};

// The nodes that become instructions, in order. Nodes of a region stand together before their owner, each region
// between two flow codes.
constexpr detail::vec<int> order(const draft_view& d, const locations& l, const fusion& f) {
  orderer o(d, l, f);
  return static_cast<detail::vec<int>&&>(o.result);
}

}  // namespace flowgraph::passes
