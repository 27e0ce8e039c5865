// Who waits for whom, for executors that run instructions as they become ready: any order that keeps these edges
// gives the same values as the serial one. Edges are found from what instructions read and write, memory that is
// reused included.
#pragma once
#include "lower.hpp"

namespace flowgraph::passes {

class dependency_finder {
 public:
  constexpr dependency_finder(plan_data& p, detail::slice<control> controls)
      : p_(p),
        slots_(p.slots.size()),
        writer_(slots_ + p.variables.size()),
        readers_(slots_ + p.variables.size()),
        seen_(p.instructions.size()),
        stateful_(p.devices.size()) {
    reads_.push({});
    link(controls);
    // A region around others has a lower id, so what an outer one leaves behind never lies within an inner one.
    for (int r = 0; r < p.regions.size(); ++r)
      if (r == 0 || p.regions[r].owner >= 0) find(r);
    make_lists();
  }

 private:
  struct read {
    int instruction = 0;
    int next = 0;
  };

  constexpr void link(detail::slice<control> controls) {
    if (controls.count == 0) return;
    control_head_ = detail::vec<int>(p_.instructions.size());
    control_next_ = detail::vec<int>(controls.count);
    for (int c = 0; c < controls.count; ++c) {
      int& head = control_head_[controls[c].after];
      control_next_[c] = head;
      head = c + 1;
    }
    controls_ = controls;
  }

  constexpr void find(int region) {
    const plan_region& r = p_.regions[region];
    first_ = r.first;
    end_ = r.first + r.count;
    for (int& s : stateful_) s = 0;
    instruction* all = p_.instructions.data;
    for (int i = first_; i < end_; ++i) {
      if (all[i].region != region) continue;
      current_ = i;
      before_ = before_all_.size();
      seen_.data[i] = i + 1;
      if (all[i].n_regions != 0) touch_regions(all[i]);
      touch(all[i]);
      if (!control_head_.empty())
        for (int c = control_head_[i]; c != 0; c = control_next_[c - 1]) wait_for(controls_[c - 1].before + 1);
      all[i].predecessors = before_all_.size() - before_;
    }
  }

  constexpr void touch(const instruction& x) {
    const unsigned traits = bits(x.op->traits);
    const operand *o = p_.operands.data + x.operands, *out = o + x.n_operands, *end = out + x.n_outputs;
    if (traits & bits(trait::stateful)) {
      if (!(traits & bits(trait::writes_operand))) {
        wait_for(stateful_[x.device]);
        stateful_[x.device] = current_ + 1;
      } else if (o->where == storage::variable) {
        write(slots_ + o++->index);
      }
    }
    for (; o != out; ++o) {
      if (o->where == storage::slot) read_from(o->index);
      if (o->where == storage::variable) read_from(slots_ + o->index);
    }
    for (; o != end; ++o) write(o->index);
  }
  // An owner reads and writes whatever its regions do.
  constexpr void touch_regions(const instruction& owner) {
    for (int r = owner.first_region; r < owner.first_region + owner.n_regions; ++r) {
      const plan_region& region = p_.regions[r];
      for (int i = region.first; i < region.first + region.count; ++i) touch(p_.instructions[i]);
      for (int k = 0; k < region.n_results; ++k) touch_value(p_.operands[region.results + k], false);
      for (int k = 0; k < region.n_carried; ++k) touch_value(p_.operands[region.carried + k], true);
    }
  }
  constexpr void touch_value(const operand& o, bool writes) {
    if (o.where != storage::slot && o.where != storage::variable) return;
    const int what = o.where == storage::slot ? o.index : slots_ + o.index;
    if (writes)
      write(what);
    else
      read_from(what);
  }

  constexpr void read_from(int what) {
    wait_for(writer_.data[what]);
    int& head = readers_.data[what];
    head = reads_.push({current_, head});
  }
  // After everyone who read the old value; they came after whoever wrote it.
  constexpr void write(int what) {
    int& head = readers_.data[what];
    if (head == 0) wait_for(writer_.data[what]);
    for (; head != 0; head = reads_.data[head].next) wait_for(reads_.data[head].instruction + 1);
    writer_.data[what] = current_ + 1;
  }
  // i: instruction + 1, 0: none.
  constexpr void wait_for(int i) {
    if (i <= first_ || i > end_ || seen_.data[i - 1] == current_ + 1) return;
    seen_.data[i - 1] = current_ + 1;
    before_all_.push(i - 1);
    ++p_.instructions.data[i - 1].n_successors;
  }

  // From the predecessors of each to the successors of each.
  constexpr void make_lists() {
    p_.successors = detail::vec<int>(before_all_.size());
    instruction* all = p_.instructions.data;
    int sum = 0;
    for (int i = 0, n = p_.instructions.size(); i < n; ++i) {
      all[i].successors = sum, sum += all[i].n_successors, all[i].n_successors = 0;
    }
    int* out = p_.successors.data;
    const int* before = before_all_.data;
    for (int r = 0; r < p_.regions.size(); ++r) {
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
  detail::vec<read> reads_;
  detail::vec<int> seen_;      // of each instruction: who waits for it already
  detail::vec<int> stateful_;  // of each device: the last instruction with an effect of its own, + 1
  detail::vec<int> before_all_;
  detail::vec<int> control_head_, control_next_;
  detail::slice<control> controls_;
  int first_ = 0, end_ = 0, current_ = 0, before_ = 0;
};

constexpr void depend(plan_data& p, detail::slice<control> controls) { dependency_finder finder(p, controls); }

}  // namespace flowgraph::passes
