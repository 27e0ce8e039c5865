// Memory for values, symbolic in the named extents: who shares a slot is decided here, once; offsets follow when
// extents are bound (plan/bind.hpp). A value gets the slot of a dying operand of its own size where the op allows
// it, else a free slot of its size, else of a size near it, else a new one. In a wide plan it gets only slots that it
// need not wait for, as long as all slots together are at most twice what they would be otherwise.
#pragma once
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/bind.hpp>
#include "chains.hpp"
#include "shape_sizes.hpp"
#include "waits.hpp"

namespace flowgraph::passes {

// All slots with one symbolic part on one device.
struct memory_budget {
  std::uint64_t family;
  std::int64_t bytes;
  std::int64_t most;
};

class memory_planner {
 public:
  // tight: what a plan without regard for width has come to; null: this is that plan.
  constexpr memory_planner(plan_data& p, int values, shape_sizes& sizes,
                           const detail::slice<memory_budget>* tight = nullptr)
      : p_(p),
        sizes_(sizes),
        tight_(tight),
        uses_(values),
        slot_of_(values),
        class_cache_(p.shapes.count * dtypes),
        next_free_(values + 1),
        class_of_slot_(values + 1),
        chains_(p, tight == nullptr ? 0 : values) {
    p.slots = detail::vec<slot>(values);
    p.slots.count = 0;
    classes_.push({});
    count_uses();
    if (p.regions.count > 1) find_destinations();
    find_channels();
    after_ = find_waits(p, values);
    if (after_.count != 0) {
      read_after_ = detail::vec<std::uint64_t>(values);
      free_after_ = detail::vec<std::uint64_t>(values + 1);
    }
    const int n = p.instructions.count;
    if (tight == nullptr) {
      for (int i = 0; i < n; ++i) give(i);
      return;
    }
    read_by_ = detail::vec<int>(values);
    freed_by_ = detail::vec<reader>(values + 1);
    for (int i = 0; i < n; ++i) {
      now_ = {chains_.join(i), i};
      note_reads(p.instructions.data[i]);
      give(i);
    }
  }

  // Operands and fetches become slots.
  constexpr void finish() {
    operand* o = p_.operands.data;
    for (const operand* end = o + p_.operands.count; o != end; ++o)
      if (o->where == storage::slot) o->index = slot_of_.data[o->index] - 1;
    for (operand& f : p_.fetches)
      if (f.where == storage::slot) f.index = slot_of_.data[f.index] - 1;
    sizes_.add_symbols();
  }

  // Whatever names are bound to: sizes with the same symbol are compared with each other.
  constexpr bool at_most_twice_the_tight() const {
    for (const memory_budget& b : budgets_)
      if (b.bytes > b.most) return false;
    return true;
  }
  constexpr const detail::vec<memory_budget>& budgets() const { return budgets_; }

 private:
  static constexpr int dtypes = 10;
  static constexpr int near = 16;        // a free slot up to this many times larger or smaller is taken
  static constexpr int most_tried = 32;  // sizes, or slots, looked at to find one for a value
  static constexpr int taken = -1;       // uses of a value whose slot has gone to another one

  // All values of one size on one device.
  struct size_class {
    std::int64_t bytes = 0;
    extent by = 1;
    int device = 0;
    int head = 0;    // free slots, as index + 1
    int shared = 0;  // those that chains have left which need not wait for each other: nobody follows them all
    int next = 0;    // the next class of the same symbolic part and device
    int budget = 0;
  };
  // An instruction and its chain.
  struct reader {
    int chain = chains::none;
    int instruction = 0;
  };

  // A value is in use as often as instructions read it, plus once for each fetch.
  constexpr void count_uses() {
    int* uses = uses_.data;
    const operand* all = p_.operands.data;
    for (const instruction *x = p_.instructions.data, *last = x + p_.instructions.count; x != last; ++x)
      for (const operand *o = all + x->operands, *end = o + x->n_operands; o != end; ++o)
        if (o->where == storage::slot) ++uses[o->index];
    for (const operand& o : p_.fetches)
      if (o.where == storage::slot) ++uses[o.index];
  }

  // Control flow takes memory where its regions begin, for what they will give; each region's results are best
  // computed right there.
  constexpr void find_destinations() {
    const int values = uses_.count;
    to_ = detail::vec<destination>(values);
    loop_end_ = detail::vec<int>(values);
    reads_within_ = detail::vec<int>(values);
    lent_ = detail::vec<bool>(values);
    for (int r = 1; r < p_.regions.count; ++r) {
      const plan_region& region = p_.regions[r];
      if (region.owner < 0) continue;
      const instruction &entry = p_.instructions[region.entry], &end = p_.instructions[region.first + region.count - 1];
      const bool loop = entry.op->id == ops::enter::id;
      for (int k = 0; k < end.n_outputs; ++k) {
        const operand &from = p_.operands[end.operands + k], &to = p_.operands[end.operands + end.n_operands + k];
        if (from.where == storage::slot && from.shape == to.shape && loop_end_[from.index] == 0)
          to_[from.index] = {to_[from.index].value == 0 ? to.index + 1 : many, r};
      }
      if (!loop || p_.instructions[region.owner].first_region != r) continue;
      for (int k = 0; k < entry.n_outputs; ++k)
        loop_end_[p_.operands[entry.operands + entry.n_operands + k].index] = region.owner;
      for (int i = region.entry + 1; i < region.owner; ++i) {
        const instruction& x = p_.instructions[i];
        for (int k = x.operands; k < x.operands + x.n_operands; ++k)
          if (p_.operands[k].where == storage::slot && loop_end_[p_.operands[k].index] == region.owner)
            ++reads_within_[p_.operands[k].index];
      }
    }
  }
  constexpr void note_waits(int i, const operand* in, const operand* out, const operand* end) {
    for (const operand* o = in; o != out; ++o)
      if (o->where == storage::slot) read_after_[o->index] |= after_[i];
    for (const operand* o = out; o != end; ++o) read_after_[o->index] |= after_[i];
  }
  // The first free slot of those looked at that makes instruction now_at_ wait for nothing more.
  constexpr int take_without_wait(int wanted) {
    const size_class want = classes_.data[wanted];
    int tried = 0, slots = most_tried;
    for (int c = wanted; c != 0 && tried < most_tried; ++tried) {
      const size_class& x = classes_.data[c];
      if (x.bytes <= want.bytes * near && want.bytes <= x.bytes * near) {
        int* from = &classes_.data[c].head;
        for (; *from != 0 && slots > 0; from = next_free_.data + *from, --slots)
          if ((free_after_[*from] & ~after_[now_at_]) == 0) {
            const int s = *from;
            *from = next_free_.data[s];
            return c == wanted ? s : fit(s, wanted);
          }
      }
      c = c == wanted ? class_ids_.find(family(want.by, want.device)) : classes_.data[c].next;
      if (c == wanted) c = classes_.data[c].next;
    }
    return add_slot(wanted);
  }

  // What is shared is in use to the end of the step, under both its names.
  constexpr void find_channels() {
    for (const channel& c : p_.channels) {
      if (!c.shared) continue;
      const instruction &send = p_.instructions[c.send], &recv = p_.instructions[c.receive];
      const operand& sent = p_.operands[send.operands];
      if (sent.where == storage::slot) ++uses_[sent.index];
      ++uses_[p_.operands[recv.operands].index];
    }
  }
  // Outside of regions a value arrives where it stays, in memory that nobody else had before; inside, what arrives
  // next may not wait until it is not needed any more.
  constexpr bool arrives(const instruction& x, const operand& out) {
    channel& c = p_.channels[static_cast<int>(p_.words[x.attrs])];
    if (c.shared) {
      c.slot = p_.slots.push({0, 1, x.device});
    } else {
      c.slot = add_slot(find_class(out.shape, out.type, x.device)) - 1;
      if (x.region != 0) return p_.slots[c.slot].parts = turns_on_the_way, false;
    }
    slot_of_[out.index] = c.slot + 1;
    return true;
  }
  // Computes a region's result where it is wanted. A loop's variable must not be needed any more, unless the
  // instruction reads each element of it before it overwrites it.
  constexpr bool at_destination(instruction& x, const operand* in, const operand& out) {
    const destination& to = to_.data[out.index];
    if (to.value <= 0 || to.region != x.region || x.op->id == ops::enter::id || x.op->id == ops::switch_::id)
      return false;
    const int value = to.value - 1, slot = slot_of_.data[value];
    if (p_.slots.data[slot - 1].device != x.device) return false;
    if (loop_end_.data[value] != 0) {
      if (reads_within_.data[value] != 0) return false;
      int read = -1;
      for (int k = 0; k < x.n_operands; ++k)
        if (in[k].where == storage::slot && in[k].index == value) {
          if (in[k].shape != out.shape) return false;
          if (read < 0) read = k;
        }
      if (read >= 0) {
        const unsigned t = static_cast<unsigned>(x.op->traits);
        if (!(t & bit::in_place) || (read > 0 && !(t & bit::elementwise))) return false;
        x.in_place = read;
      }
    }
    slot_of_.data[out.index] = slot, lent_.data[out.index] = true;
    return true;
  }
  // An initial value that nobody else reads becomes the loop's variable where it is.
  constexpr bool enters_in_place(const instruction& x, const operand& from, const operand& to) {
    if (x.op->id != ops::enter::id || from.where != storage::slot || uses_.data[from.index] != 0 ||
        from.shape != to.shape || p_.slots.data[slot_of_.data[from.index] - 1].device != x.device ||
        lent_.data[from.index])
      return false;
    slot_of_.data[to.index] = slot_of_.data[from.index], uses_.data[from.index] = taken;
    return true;
  }

  constexpr void give(int i) {
    instruction& x = p_.instructions.data[i];
    int *uses = uses_.data, *slot_of = slot_of_.data;
    operand *in = p_.operands.data + x.operands, *out = in + x.n_operands, *end = out + x.n_outputs;
    const bool flow = lent_.count != 0, waits = after_.count != 0;
    int dying = 0;
    now_at_ = i;
    if (waits) note_waits(i, in, out, end);
    for (const operand* o = in; o != out; ++o)
      if (o->where == storage::slot) {
        dying += --uses[o->index] == 0;
        if (flow && i < loop_end_.data[o->index]) --reads_within_.data[o->index];
      }
    for (const operand* o = out; o != end; ++o) {
      if (p_.channels.count != 0 && x.op->id == ops::recv::id && arrives(x, *o)) continue;
      if (flow && (slot_of[o->index] != 0 || at_destination(x, in, *o) || enters_in_place(x, in[o - out], *o)))
        continue;
      if (dying != 0 && o == out && static_cast<unsigned>(x.op->traits) & bit::in_place && in_place(x, in, *o))
        continue;
      slot_of[o->index] = take(*o, x.device);
    }
    if (dying != 0)
      for (const operand* o = in; o != out; ++o)
        if (o->where == storage::slot && uses[o->index] == 0) release(o->index);
    for (const operand* o = out; o != end; ++o)
      if (uses[o->index] == 0) release(o->index);
  }

  // Takes over the slot of an operand that dies here. An element-wise op may take any, others the first; all
  // operands in that slot must have the result's shape, so that each element is read before it is overwritten.
  constexpr bool in_place(instruction& x, const operand* in, const operand& out) {
    const int tried = static_cast<unsigned>(x.op->traits) & bit::elementwise ? x.n_operands : x.n_operands > 0;
    for (int k = 0; k < tried; ++k) {
      const operand& o = in[k];
      if (o.where != storage::slot || uses_.data[o.index] != 0 || o.shape != out.shape ||
          (o.type != out.type && size_of(o.type) != size_of(out.type)) ||
          p_.slots.data[slot_of_.data[o.index] - 1].device != x.device || waits_for_others(o))
        continue;
      if (after_.count != 0) {
        if ((read_after_[o.index] & ~after_[now_at_]) != 0) continue;
        read_after_[out.index] |= read_after_[o.index];
      }
      bool same = true;
      for (int j = 0; j < x.n_operands; ++j)
        same = same && (in[j].where != storage::slot || in[j].index != o.index || in[j].shape == out.shape);
      if (!same) continue;
      x.in_place = k, slot_of_.data[out.index] = slot_of_.data[o.index], uses_.data[o.index] = taken;
      return true;
    }
    return false;
  }

  // In a wide plan: who reads a value, by chain.
  constexpr void note_reads(const instruction& x) {
    for (const operand *o = p_.operands.data + x.operands, *end = o + x.n_operands; o != end; ++o)
      if (o->where == storage::slot) read_by_.data[o->index] = chains_.read(read_by_.data[o->index], now_.chain);
    for (const operand *o = p_.operands.data + x.operands + x.n_operands, *end = o + x.n_outputs; o != end; ++o)
      read_by_.data[o->index] = now_.chain;  // where nobody reads it
  }
  // Would overwriting this operand make the instruction wait for readers that it could do without, at a fair price?
  constexpr bool waits_for_others(const operand& o) const {
    if (tight_ == nullptr || read_by_.data[o.index] != chains::several) return false;
    return affordable(classes_.data[class_of_slot_.data[slot_of_.data[o.index]]]);
  }
  // Slots begin at multiples of slot_alignment.
  static constexpr std::int64_t room(std::int64_t bytes, extent by) {
    return by == 1 ? (bytes + slot_alignment - 1) / slot_alignment * slot_alignment : bytes;
  }
  constexpr bool affordable(const size_class& c) const {
    return budgets_.data[c.budget].bytes + room(c.bytes, c.by) <= budgets_.data[c.budget].most;
  }

  // A value's uses are over: its slot is free for what comes next.
  constexpr void release(int value) {
    if (lent_.count != 0 && lent_.data[value]) {
      uses_.data[value] = taken;
      return;
    }
    const int s = slot_of_.data[value];
    size_class& c = classes_.data[class_of_slot_.data[s]];
    int& head = tight_ == nullptr || read_by_.data[value] > chains::none ? c.head : c.shared;
    next_free_.data[s] = head, head = s, uses_.data[value] = taken;
    if (tight_ != nullptr) freed_by_.data[s] = {read_by_.data[value], now_.instruction};
    if (after_.count != 0) free_after_.data[s] = read_after_.data[value];
  }

  // Returns the slot's index + 1.
  constexpr int take(const operand& o, int device) {
    int& wanted = class_cache_.data[o.shape * dtypes + static_cast<int>(o.type)];
    if (wanted == 0 || classes_.data[wanted].device != device) wanted = find_class(o.shape, o.type, device);
    if (tight_ != nullptr) return take_in_wide_plan(wanted);
    if (after_.count != 0) return take_without_wait(wanted);
    const int s = classes_.data[wanted].head;
    if (s == 0) return take_near(wanted);
    classes_.data[wanted].head = next_free_.data[s];
    return s;
  }

  constexpr int take_near(int wanted) {
    const size_class& want = classes_[wanted];
    int best = 0, tried = 0;
    for (int c = class_ids_.find(family(want.by, want.device)); c != 0 && tried < most_tried;
         c = classes_[c].next, ++tried) {
      const size_class& x = classes_[c];
      if (x.head + x.shared == 0 || x.bytes > want.bytes * near || want.bytes > x.bytes * near) continue;
      const size_class& y = classes_[best];
      // Large enough beats too small; then the nearer one.
      if (best == 0 || (x.bytes >= want.bytes ? y.bytes < want.bytes || x.bytes < y.bytes
                                              : y.bytes < want.bytes && x.bytes > y.bytes))
        best = c;
    }
    if (best == 0) return add_slot(wanted);
    int& head = classes_[best].head != 0 ? classes_[best].head : classes_[best].shared;
    const int s = head;
    head = next_free_[s];
    return fit(s, wanted);
  }
  constexpr int add_slot(int wanted) {
    const size_class& want = classes_.data[wanted];
    const int s = p_.slots.push({want.bytes, want.by, want.device}) + 1;
    class_of_slot_.data[s] = wanted, budgets_.data[want.budget].bytes += room(want.bytes, want.by);
    return s;
  }
  constexpr int fit(int s, int wanted) {
    const size_class& want = classes_.data[wanted];
    std::int64_t& bytes = p_.slots.data[s - 1].bytes;
    if (bytes < want.bytes) {
      budgets_.data[want.budget].bytes += room(want.bytes, want.by) - room(bytes, want.by);
      bytes = want.bytes, class_of_slot_.data[s] = wanted;
    }
    return s;
  }

  // A slot whose readers come before this instruction anyway, else a new one. When memory is short, the slot that has
  // been free for longest, so that what waits for it waits least.
  constexpr int take_in_wide_plan(int wanted) {
    int slots = most_tried;
    if (const int s = take_following(wanted, slots); s != 0) return s;
    const size_class want = classes_.data[wanted];
    int tried = 0;
    slots = most_tried;
    for (int c = class_ids_.find(family(want.by, want.device)); c != 0 && tried < most_tried;
         c = classes_.data[c].next, ++tried)
      if (c != wanted && classes_.data[c].head != 0 && classes_.data[c].bytes <= want.bytes * near &&
          want.bytes <= classes_.data[c].bytes * near && (classes_.data[c].bytes >= want.bytes || affordable(want))) {
        const int s = take_following(c, slots);
        if (s != 0) return fit(s, wanted);
      }
    if (affordable(want)) return add_slot(wanted);
    const int s = take_oldest(classes_.data[wanted]);
    return s != 0 ? s : take_near(wanted);
  }
  // slots: how many may still be looked at.
  constexpr int take_following(int c, int& slots) {
    int* from = &classes_.data[c].head;
    for (; *from != 0 && slots > 0; from = next_free_.data + *from, --slots)
      if (chains_.follows(now_.chain, freed_by_.data[*from].chain, freed_by_.data[*from].instruction)) {
        const int s = *from;
        *from = next_free_.data[s];
        return s;
      }
    return 0;
  }
  // The last of those looked at; 0: none is free.
  constexpr int take_oldest(size_class& c) {
    int *last = oldest(&c.head), *of_shared = oldest(&c.shared);
    if (*last == 0 || (*of_shared != 0 && freed_by_.data[*of_shared].instruction < freed_by_.data[*last].instruction))
      last = of_shared;
    const int s = *last;
    if (s != 0) *last = next_free_.data[s];
    return s;
  }
  constexpr int* oldest(int* from) {
    for (int tried = 1; tried < most_tried && *from != 0 && next_free_.data[*from] != 0; ++tried)
      from = next_free_.data + *from;
    return from;
  }

  constexpr int find_class(int shape, dtype type, int device) {
    const shape_sizes::size& size = sizes_.of(shape);
    const std::int64_t bytes = size.count * size_of(type);
    const std::uint64_t near_key = family(size.by, device),
                        key = detail::mix(near_key, static_cast<std::uint64_t>(bytes));
    int found = class_ids_.find(key);
    if (found >= 0) return found;
    const int first = class_ids_.find(near_key);
    found = classes_.push({bytes, size.by, device, 0, 0, first < 0 ? 0 : first,
                           first < 0 ? add_budget(near_key) : classes_[first].budget});
    class_ids_.set(key, found);
    class_ids_.set(near_key, found);
    return found;
  }
  constexpr int add_budget(std::uint64_t family) {
    std::int64_t most = 0;
    if (tight_ != nullptr)
      for (const memory_budget& b : *tight_)
        if (b.family == family) most = 2 * b.bytes;
    return budgets_.push({family, 0, most});
  }
  // The key of all sizes with one symbolic part on one device. It begins with a number that no part is: equal numbers
  // mix to 0, and then a size could be taken for a device.
  static constexpr std::uint64_t family(extent by, int device) {
    return detail::mix(detail::mix(0x9FB21C651E98DF25u, static_cast<std::uint64_t>(by)),
                       static_cast<std::uint64_t>(device));
  }

  // Of a region's result: the value of the owner that it becomes + 1, and the region. many: it becomes several.
  struct destination {
    int value, region;
  };
  static constexpr int many = -1;

  plan_data& p_;
  shape_sizes& sizes_;
  const detail::slice<memory_budget>* tight_;
  detail::vec<int> uses_;         // of each value: readers to come
  detail::vec<int> slot_of_;      // of each value: slot + 1
  detail::vec<int> class_cache_;  // by shape and type, for the device asked for last
  detail::vec<size_class> classes_;
  detail::vec<memory_budget> budgets_;
  detail::hash_map class_ids_;
  // Where something waits: of each instruction, of who has read each value, and of who used what is free, by slot + 1.
  detail::vec<std::uint64_t> after_, read_after_, free_after_;
  int now_at_ = 0;
  detail::vec<int> next_free_;      // by slot + 1: the next free slot of its class
  detail::vec<int> class_of_slot_;  // by slot + 1
  // Where the plan is wide:
  chains chains_;
  detail::vec<int> read_by_;      // of each value: the chain of its readers so far
  detail::vec<reader> freed_by_;  // by slot + 1
  reader now_;
  // Of each value, where there is control flow:
  detail::vec<destination> to_;
  detail::vec<int> loop_end_;      // of a loop's variable: the loop's last instruction
  detail::vec<int> reads_within_;  // of a loop's variable: readers to come within the loop
  detail::vec<bool> lent_;         // lives in the slot of another value
};

// values: how many ids the slot operands of the plan use so far. Afterwards they are slots, unless more memory may buy
// instructions that wait for less (wide): then they are values still, and these are the budgets for give_wide_memory.
struct tight_memory {
  detail::vec<memory_budget> budgets;
  bool wide;
};
constexpr tight_memory give_tight_memory(plan_data& p, int values, bool wide) {
  shape_sizes sizes(p);
  memory_planner tight(p, values, sizes);
  if (wide && is_wide(p, values)) return {tight.budgets(), true};
  tight.finish();
  return {{}, false};
}

// False: it would be too much, and the plan has no memory yet.
constexpr bool give_wide_memory(plan_data& p, int values, detail::slice<memory_budget> tight) {
  for (instruction& x : p.instructions) x.in_place = -1;
  shape_sizes sizes(p);
  memory_planner roomy(p, values, sizes, &tight);
  if (roomy.at_most_twice_the_tight()) return roomy.finish(), true;
  for (instruction& x : p.instructions) x.in_place = -1;
  return false;
}

constexpr void memory(plan_data& p, int values, bool wide) {
  const tight_memory tight = give_tight_memory(p, values, wide);
  if (tight.wide && !give_wide_memory(p, values, tight.budgets)) give_tight_memory(p, values, false);
}

}  // namespace flowgraph::passes
