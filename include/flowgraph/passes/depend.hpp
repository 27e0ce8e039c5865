// Who waits for whom, for executors that run instructions as they become ready: any order that keeps these edges
// gives the same values as the serial one. Edges are found from what instructions read and write, memory that is
// reused included.
#pragma once
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/queue.hpp>
#include <flowgraph/ops/stack.hpp>
#include <flowgraph/ops/synchronize.hpp>
#include "lower.hpp"

namespace flowgraph::passes {

class dependency_finder {
 public:
  constexpr dependency_finder(plan_data& p, detail::slice<control> controls)
      : p_(p),
        slots_(p.slots.count),
        writer_(slots_ + p.variables.count),
        readers_(slots_ + p.variables.count),
        seen_(p.instructions.count),
        last_(p.devices.count) {
    make_room(controls.count);
    link(controls);
    // A region around others has a lower id, so what an outer one leaves behind never lies within an inner one.
    for (int r = 0; r < p.regions.count; ++r)
      if (r == 0 || p.regions[r].owner >= 0) find(r);
    make_lists();
  }

 private:
  struct read {
    int instruction;
    int next;
  };

  // Every access gives at most two edges, and an instruction within regions is looked at once for each that is around
  // it. A region around others has a lower id.
  constexpr void make_room(int controls) {
    int accesses = 1, links = controls;
    const instruction* all = p_.instructions.data;
    detail::vec<int> levels(p_.regions.count);
    for (int r = 0; r < p_.regions.count; ++r)
      levels.data[r] = r == 0                         ? 1
                       : p_.regions.data[r].owner < 0 ? 0
                                                      : 1 + levels.data[all[p_.regions.data[r].owner].region];
    for (const instruction *x = all, *end = all + p_.instructions.count; x != end; ++x)
      links += levels.data[x->region], accesses += levels.data[x->region] * (x->n_operands + x->n_outputs);
    reads_ = detail::vec<read>(accesses);
    before_ = detail::vec<int>(2 * accesses + links);
  }

  constexpr void link(detail::slice<control> controls) {
    if (controls.count == 0) return;
    control_head_ = detail::vec<int>(p_.instructions.count);
    control_next_ = detail::vec<int>(controls.count);
    for (int c = 0; c < controls.count; ++c) {
      int& head = control_head_.data[controls.data[c].after];
      control_next_.data[c] = head, head = c + 1;
    }
    controls_ = controls;
  }

  constexpr void find(int region) {
    const plan_region& r = p_.regions[region];
    first_ = r.first;
    end_ = r.first + r.count;
    instruction* all = p_.instructions.data;
    for (int i = first_; i < end_; ++i) {
      if (all[i].region != region) continue;
      const int before = n_before_;
      current_ = i + 1, seen_.data[i] = current_;
      if (all[i].n_regions != 0) touch_regions(all[i]);
      touch(all[i]);
      if (controls_.count != 0)
        for (int c = control_head_.data[i]; c != 0; c = control_next_.data[c - 1])
          wait_for(controls_.data[c - 1].before + 1);
      all[i].predecessors = n_before_ - before;
    }
  }

  // Reads, then writes: after whoever wrote a value, after everyone who read the one that is overwritten. Written in
  // few statements: it runs for every operand there is.
  constexpr void touch(const instruction& x) {
    const operand *o = p_.operands.data + x.operands, *out = o + x.n_operands, *end = out + x.n_outputs;
    int *writer = writer_.data, *readers = readers_.data, *seen = seen_.data, *before = before_.data;
    instruction* all = p_.instructions.data;
    const int current = current_, first = first_, last = end_;
    if (static_cast<unsigned>(x.op->traits) & bit::stateful) {
      if (!(static_cast<unsigned>(x.op->traits) & bit::writes_operand))
        join_chain(x);
      else if (o->where == storage::variable)
        write(slots_ + o++->index);
    }
    for (; o != out; ++o) {
      if (o->where != storage::slot && o->where != storage::variable) continue;
      const int what = o->where == storage::slot ? o->index : slots_ + o->index, w = writer[what];
      if (w > first && w <= last && seen[w - 1] != current)
        seen[w - 1] = current, before[n_before_++] = w - 1, ++all[w - 1].n_successors;
      reads_.data[++n_reads_] = {current, readers[what]}, readers[what] = n_reads_;
    }
    for (; o != end; ++o) write(o->index);
  }
  // Effects come one after another in chains: one for each queue, mutex and barrier, and one for all that is seen from
  // outside, as what is printed and what users' functions do. Each device has its own: between devices there is nothing
  // but what is sent. A group does nothing, and who pushes on a stack or pops from it is tied to the next by its
  // number.
  constexpr void join_chain(const instruction& x) {
    const auto op = x.op->id;
    if (op == ops::group::id || op == ops::stack_push::id || op == ops::stack_pop::id) return;
    int chain = x.device;
    if (x.op->is(trait::waits)) {
      const bool declares = op == ops::queue::id || op == ops::mutex::id || op == ops::barrier::id;
      const std::int64_t resource = declares ? x.node : p_.words.data[x.attrs];
      const auto key = detail::mix(static_cast<std::uint64_t>(resource), static_cast<std::uint64_t>(x.device));
      chain = chains_.find(key);
      if (chain < 0) chains_.set(key, chain = last_.push(0));
    }
    wait_for(last_.data[chain]), last_.data[chain] = current_;
  }
  // An owner reads and writes whatever its regions do.
  constexpr void touch_regions(const instruction& owner) {
    for (int r = owner.first_region; r < owner.first_region + owner.n_regions; ++r) {
      const plan_region& region = p_.regions[r];
      for (int i = region.first; i < region.first + region.count; ++i) touch(p_.instructions[i]);
    }
  }

  // Readers came after whoever wrote what they read.
  constexpr void write(int what) {
    int reader = readers_.data[what];
    if (reader == 0) wait_for(writer_.data[what]);
    for (; reader != 0; reader = reads_.data[reader].next) wait_for(reads_.data[reader].instruction);
    readers_.data[what] = 0, writer_.data[what] = current_;
  }
  // i: instruction + 1, 0: none.
  constexpr void wait_for(int i) {
    if (i > first_ && i <= end_ && seen_.data[i - 1] != current_)
      seen_.data[i - 1] = current_, before_.data[n_before_++] = i - 1, ++p_.instructions.data[i - 1].n_successors;
  }

  // From the predecessors of each to the successors of each.
  constexpr void make_lists() {
    p_.successors = detail::vec<int>(n_before_);
    instruction* all = p_.instructions.data;
    int sum = 0;
    for (int i = 0, n = p_.instructions.count; i < n; ++i)
      all[i].successors = sum, sum += all[i].n_successors, all[i].n_successors = 0;
    int* out = p_.successors.data;
    const int* before = before_.data;
    for (int r = 0; r < p_.regions.count; ++r) {
      if (r != 0 && p_.regions[r].owner < 0) continue;
      for (int i = p_.regions[r].first, end = i + p_.regions[r].count; i < end; ++i)
        if (all[i].region == r)
          for (const int* last = before + all[i].predecessors; before != last; ++before)
            out[all[*before].successors + all[*before].n_successors++] = i;
    }
  }

  plan_data& p_;
  int slots_;
  detail::vec<int> writer_;   // of each slot, then of each variable: who wrote it last, + 1
  detail::vec<int> readers_;  // who has read it since: a list in reads_
  detail::vec<read> reads_;   // [0] is unused
  detail::vec<int> seen_;     // of each instruction: who waits for it already, + 1
  detail::vec<int> last_;     // of each device, then of each resource: the last instruction of its chain, + 1
  detail::hash_map chains_;   // of resources: in last_
  detail::vec<int> before_;   // predecessors of all instructions, one after the other
  detail::vec<int> control_head_, control_next_;
  detail::slice<control> controls_;
  int first_ = 0, end_ = 0;
  int current_ = 0;  // instruction + 1
  int n_before_ = 0, n_reads_ = 0;
};

constexpr void depend(plan_data& p, detail::slice<control> controls) { dependency_finder finder(p, controls); }

}  // namespace flowgraph::passes
