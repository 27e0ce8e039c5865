// Is a plan what an executor takes for granted? Every index lies in its table, values are written before they are read,
// and who waits for whom is told alike from both ends. For tests of the passes, and for who gets a plan from elsewhere:
// one that is verified makes an executor reach no memory but its own.
#pragma once
#include <cstdint>

#include "plan.hpp"

namespace flowgraph {

namespace detail {

class plan_verifier {
 public:
  constexpr explicit plan_verifier(const plan_view& p)
      : p_(p),
        written_(p.slots.count),
        arrives_(p.slots.count),
        waits_(p.instructions.count) {
    require(p.programs.count > 0 || p.instructions.count == 0, -1);
    require(p.reasons.count == 0 || p.reasons.count == p.instructions.count, -1);
    for (const placed& why : p.reasons) require(why >= placed::first && why <= placed::crossing, -1);
    check_tables();
    check_regions();
    check_channels();
    for (int i = 0; i < p.instructions.count && sound(); ++i) check(i);
    for (int i = 0; i < p.instructions.count && sound(); ++i) require(waits_[i] == p.instructions[i].predecessors, i);
    for (const operand& o : p.fetches) check_read(o, -1);
  }

  plan_fault fault;

 private:
  constexpr bool sound() const { return fault.why == problem::none; }
  // i: the instruction that is at fault, -1: none in particular.
  constexpr void require(bool ok, int i) {
    if (!ok && sound()) fault = {problem::invalid_plan, i < 0 ? -1 : p_.instructions[i].node};
  }
  static constexpr bool within(int first, int count, int size) {
    return first >= 0 && count >= 0 && first <= size && count <= size - first;
  }
  constexpr bool is_text(text_range r) const {
    return within(static_cast<int>(r.begin), static_cast<int>(r.length), p_.chars.count);
  }
  constexpr bool is_shape(int s) const { return s >= 0 && s < p_.shapes.count; }
  constexpr bool is_device(int d) const { return d >= 0 && d < p_.devices.count; }
  constexpr bool is_extent(extent e) const { return e >= 0 || -1 - e < p_.symbols.count; }

  constexpr void check_tables() {
    for (const shape_entry& s : p_.shapes) require(within(s.dims, s.rank, p_.dims.count), -1);
    for (const extent e : p_.dims) require(is_extent(e), -1);
    for (const text_range& r : p_.symbols) require(is_text(r), -1);
    for (const extent_check& c : p_.checks) require(is_extent(c.whole) && is_extent(c.part), -1);
    for (const text_range& r : p_.devices) require(is_text(r), -1);
    for (const slot& s : p_.slots) require(s.bytes >= 0 && s.parts > 0 && is_extent(s.by) && is_device(s.device), -1);
    for (const variable_use& v : p_.variables) require(is_shape(v.shape) && is_device(v.device), -1);
    for (const feed_use& f : p_.feeds) require(is_shape(f.shape) && is_device(f.device), -1);
    for (const literal_use& l : p_.literals)
      require(is_shape(l.shape) && within(l.words, l.n_words, p_.words.count), -1);
    for (const program_step& s : p_.steps)
      require(within(s.inputs, s.n_inputs, p_.registers.count) && within(s.attrs, s.n_attrs, p_.words.count), -1);
  }

  // Regions stand together, before their owners and behind their entries.
  constexpr void check_regions() {
    for (int r = 1; r < p_.regions.count && sound(); ++r) {
      const plan_region& x = p_.regions[r];
      if (x.owner < 0) continue;  // fused away with its owner
      require(x.owner < p_.instructions.count && within(x.first, x.count, x.owner) && x.entry >= 0 &&
                  x.entry < x.owner && (x.count == 0 || x.entry < x.first),
              -1);
    }
  }

  // Two instructions name a channel, and they name no other one; or one does whose other end is elsewhere.
  constexpr void check_channels() {
    int ends = 0, named = 0;
    for (const instruction& x : p_.instructions) ends += is_end(x);
    for (int k = 0; k < p_.channels.count && sound(); ++k) {
      const channel& c = p_.channels[k];
      const int n = p_.instructions.count;
      require(is_device(c.from) && is_device(c.to) && c.from != c.to && c.send >= -1 && c.receive >= -1 && c.send < n &&
                  c.receive < n && c.slot >= -1 && c.slot < p_.slots.count && (!c.shared || c.slot >= 0),
              -1);
      if (!sound()) return;
      named += (c.send >= 0) + (c.receive >= 0);
      if (c.send >= 0) check_send(k, p_.instructions[c.send]);
      if (c.receive >= 0 && sound()) check_receive(k, p_.instructions[c.receive]);
      require(c.receive >= 0 || c.slot < 0, -1);
      if (sound() && c.send >= 0 && c.receive >= 0) check_way(c, p_.instructions[c.send], p_.instructions[c.receive]);
    }
    require(ends == named, -1);
  }
  static constexpr bool is_end(const instruction& x) { return x.op->name == "send" || x.op->name == "recv"; }
  constexpr bool names(const instruction& x, std::string_view op, int channel) const {
    return x.op->name == op && x.n_attrs == 1 && within(x.attrs, 1, p_.words.count) && p_.words[x.attrs] == channel;
  }
  constexpr void check_send(int k, const instruction& x) {
    const channel& c = p_.channels[k];
    require(names(x, "send", k) && x.device == c.from && x.n_operands <= 1 && x.n_outputs == 0 &&
                within(x.operands, x.n_operands, p_.operands.count) && (!c.shared || x.region == 0),
            c.send);
  }
  constexpr void check_receive(int k, const instruction& x) {
    const channel& c = p_.channels[k];
    require(names(x, "recv", k) && x.device == c.to && x.n_operands == 0 && x.n_outputs == (c.slot >= 0) &&
                within(x.operands, x.n_outputs, p_.operands.count) && (!c.shared || c.send >= 0),
            c.receive);
    if (!sound() || c.slot < 0) return;
    const operand& o = p_.operands[x.operands];
    const bool whole = x.region == 0;
    require(p_.slots[c.slot].device == c.to && o.where == storage::slot && (!whole || o.index == c.slot) &&
                p_.slots[c.slot].parts == (whole ? 1 : turns_on_the_way) && arrives_[c.slot] == 0,
            c.receive);
    arrives_[c.slot] = k + 1;
  }
  // What arrives is what was sent.
  constexpr void check_way(const channel& c, const instruction& send, const instruction& receive) {
    require(send.n_operands == receive.n_outputs && (send.region == 0) == (receive.region == 0) &&
                (send.region != 0 || c.receive > c.send),
            c.send);
    if (!sound() || c.slot < 0) return;
    const operand &sent = p_.operands[send.operands], &received = p_.operands[receive.operands];
    require(sent.type == received.type && sent.shape == received.shape, c.receive);
  }
  // Nobody else writes where a value is going to arrive, nor ever to what is shared.
  constexpr bool may_write(int slot, int i) const {
    if (arrives_[slot] == 0) return true;
    const channel& c = p_.channels[arrives_[slot] - 1];
    return i == c.receive || (i > c.receive && !c.shared && p_.instructions[c.receive].region == 0);
  }

  constexpr void check(int i) {
    const instruction& x = p_.instructions[i];
    require(within(x.operands, x.n_operands, p_.operands.count) &&
                within(x.operands + x.n_operands, x.n_outputs, p_.operands.count) &&
                within(x.attrs, x.n_attrs, p_.words.count) &&
                within(x.successors, x.n_successors, p_.successors.count) && is_device(x.device) && x.region >= 0 &&
                x.region < p_.regions.count && x.program >= 0 && (x.program == 0 || x.program < p_.programs.count) &&
                (x.n_regions == 0 || within(x.first_region, x.n_regions, p_.regions.count)) && x.in_place >= -1 &&
                x.in_place < x.n_operands,
            i);
    if (!sound()) return;
    for (const operand& o : p_.inputs(x)) check_read(o, i);
    for (const operand& o : p_.outputs(x)) {
      check_place(o, i);
      require(o.where == storage::slot || o.where == storage::none, i);
      if (!sound() || o.where != storage::slot) continue;
      require(may_write(o.index, i), i);
      written_[o.index] = 1;
    }
    if (x.program != 0) check_program(x, i);
    for (const int s : p_.next(x)) {  // the order of the plan is one that keeps all edges
      require(s > i && s < p_.instructions.count && p_.instructions[s].region == x.region, i);
      if (sound()) ++waits_[s];
    }
  }

  constexpr void check_place(const operand& o, int i) {
    require(is_shape(o.shape), i);
    const int sizes[] = {0, p_.slots.count, p_.variables.count, p_.feeds.count, p_.constants.count, p_.literals.count};
    const auto where = static_cast<int>(o.where);
    require(where >= 0 && where < 6 && (o.where == storage::none || (o.index >= 0 && o.index < sizes[where])), i);
  }
  constexpr void check_read(const operand& o, int i) {
    check_place(o, i);
    if (sound() && o.where == storage::slot) require(written_[o.index] != 0, i);
  }

  // Steps read what came before them.
  constexpr void check_program(const instruction& x, int i) {
    const program& all = p_.programs[x.program];
    require(all.n_steps > 0 && all.n_steps <= max_program_steps && within(all.steps, all.n_steps, p_.steps.count) &&
                all.value >= 0 && all.value < x.n_operands + x.n_outputs && all.own >= 0 && all.own <= x.n_operands,
            i);
    for (int s = 0; s < all.n_steps && sound(); ++s) {
      const program_step& step = p_.steps[all.steps + s];
      for (int k = 0; k < step.n_inputs; ++k) {
        const int r = p_.registers[step.inputs + k];
        require(r < s && -1 - r < x.n_operands + x.n_outputs, i);
      }
    }
  }

  const plan_view& p_;
  vec<int> written_;  // of each slot: does it hold a value by now?
  vec<int> arrives_;  // of each slot: the channel that it belongs to + 1
  vec<int> waits_;    // of each instruction: how many lead to it
};

}  // namespace detail

// The first problem of a plan, and the model's node that its instruction computes.
constexpr plan_fault verify(const plan_view& p) { return detail::plan_verifier(p).fault; }

}  // namespace flowgraph
