// From ordered nodes to instructions over values. Slots are not known yet: a slot operand's index is the node whose
// value it is, until memory.hpp replaces it.
#pragma once
#include <flowgraph/graph/device.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/fused.hpp>
#include "order.hpp"

namespace flowgraph::passes {

// An instruction that must be done before another one of the same region, for no value's sake.
struct control {
  int before, after;
};

// Of each node, the index of its device and why; and the devices' names.
struct assignment {
  detail::slice<int> device;
  detail::slice<placed> why;
  detail::slice<std::string_view> names;
};

struct lowered {
  plan_data plan;
  detail::vec<control> controls;
};

class lowering {
 public:
  constexpr lowering(const draft_view& d, const assignment& on, const locations& l, const fusion& f,
                     detail::slice<int> sequence)
      : g_(d.graph),
        model_(d.model.data),
        device_(on.device.data),
        locations_(l),
        at_(l.at.data),
        fusion_(f),
        codes_(g_.size()),
        instruction_of_(g_.size()) {
    int operands = 0;
    const int n = g_.nodes.count;
    for (const int i : sequence) operands += i < n ? g_.nodes.data[i].outputs : room_for_flow(i % n);
    result.instructions = detail::vec<instruction>(sequence.count);
    // An owner in no region repeats what constants its regions read: all together no more than they have operands.
    result.operands = detail::vec<operand>((g_.regions.size() > 1 ? 2 : 1) * (operands + g_.edges.size()));
    result.words = detail::vec<std::int64_t>(g_.words);
    result.programs.push({});
    result.regions = detail::vec<plan_region>(g_.regions.size());
    for (const int i : sequence) {
      if (i >= n) {
        instruct_flow(i % n, i / n - 1);
        continue;
      }
      if (g_.nodes.data[i].n_regions == 0)
        instruct(i);
      else
        instruct_owner(i);
      instruction_of_.data[i] = count_;
    }
    result.regions[0].count = count_;
    result.operands.count = operands_;
    describe(d);
    for (const int i : sequence)
      if (i < n && g_.nodes.data[i].n_control != 0) find_controls(i);
    name_devices(on.names);
    if (on.names.count > 1) find_channels();
    if (on.why.count != 0 && on.names.count > 1)
      for (const int i : sequence) result.reasons.push(on.why[i % n]);
  }

  plan_data result;
  detail::vec<control> controls;

 private:
  static constexpr int code_bits = 6;
  static constexpr int is_operand = 1 << (code_bits - 1);
  static constexpr int op_result = is_operand - 1;  // until it is known how many operands there are
  static_assert(max_program_steps <= is_operand && max_region_operands <= op_result);

  // Operands of a flow code: what it copies, and where to. The owner's part is spread over its codes.
  constexpr int room_for_flow(int owner) const {
    const node& x = g_.nodes.data[owner];
    return 2 * x.outputs + x.n_inputs + 1;
  }

  constexpr void instruct(int i) {
    const node& x = g_.nodes.data[i];
    const int group = fusion_.of.data[i], first = operands_;
    if (group != 0) return instruct_group(i, group);
    const bool elementwise = static_cast<unsigned>(x.op->traits) & bit::elementwise;
    const bool no_elements = static_cast<unsigned>(x.op->traits) & bit::reads_extents;
    operand* out = result.operands.data;
    for (const int *e = g_.edges.data + x.inputs, *end = e + x.n_inputs; e != end; ++e) {
      operand& o = out[operands_++] = at_[*e];
      if (no_elements) o.where = storage::none, o.shape = g_.nodes.data[*e].shape;
      if (o.where == storage::constant && o.shape != 0) pass_constant(o, elementwise);
    }
    if (x.outputs == 1)
      out[operands_++] = {storage::slot, x.type, i, x.shape};
    else
      for (int k = i + 1; k <= i + x.outputs; ++k)
        out[operands_++] = {storage::slot, g_.nodes[k].type, k, g_.nodes[k].shape};
    // A constant is written before the regions that need it, wherever it was made.
    const int region = x.op->id == ops::constant::id ? 0 : x.region;
    result.instructions.data[count_++] = {.op = x.op,
                                          .node = model_[i],
                                          .device = device_[i],
                                          .region = region,
                                          .operands = first,
                                          .n_operands = x.n_inputs,
                                          .n_outputs = x.outputs,
                                          .attrs = x.attrs,
                                          .n_attrs = x.n_attrs,
                                          .program = 0,
                                          .first_region = 0,
                                          .n_regions = 0,
                                          .in_place = -1,
                                          .predecessors = 0,
                                          .successors = 0,
                                          .n_successors = 0};
  }

  // An element-wise instruction takes it as one number; for others its elements were written to memory.
  constexpr void pass_constant(operand& o, bool elementwise) const {
    if (elementwise)
      o.shape = 0;
    else
      o.where = storage::slot, o.index = locations_.constant_nodes[o.index];
  }

  constexpr void instruct_group(int root, int group) {
    const node& x = g_.nodes.data[root];
    const fusion::group& members = fusion_.groups.data[group];
    const int first = operands_, first_register = result.registers.count;
    operand* out = result.operands.data;
    int* codes = codes_.data;  // of a node: the last group that read it, and the register it has there
    program p{result.steps.count, members.size};
    if (members.op >= 0) {
      const node& op = g_.nodes.data[members.op];
      const int *e = g_.edges.data + op.inputs, *end = e + op.n_inputs;
      p.own = op.n_inputs;
      p.role = members.op == root ? program_role::before : program_role::after;
      if (members.op == root) --end;
      for (; e != end; ++e) {
        operand& o = out[operands_] = at_[*e];
        if (o.where == storage::constant && o.shape != 0) pass_constant(o, false);
        codes[*e] = group << code_bits | is_operand | (operands_++ - first);
      }
      if (members.op == root)
        p.value = operands_ - first, out[operands_++] = {storage::none, g_.nodes.data[*e].type, 0, members.shape};
      else
        codes[members.op] = group << code_bits | is_operand | op_result;
    }
    for (int m = members.first, step = 0; m >= 0; m = fusion_.next.data[m], ++step) {
      const node& y = g_.nodes.data[m];
      result.steps.push({.op = y.op,
                         .inputs = result.registers.count,
                         .n_inputs = y.n_inputs,
                         .attrs = y.attrs,
                         .n_attrs = y.n_attrs,
                         .type = y.type});
      for (const int *e = g_.edges.data + y.inputs, *end = e + y.n_inputs; e != end; ++e) {
        if (codes[*e] >> code_bits != group) {
          operand& o = out[operands_] = at_[*e];
          if (o.where == storage::constant) o.shape = 0;
          codes[*e] = group << code_bits | is_operand | (operands_++ - first);
        }
        const int r = codes[*e] & (is_operand - 1);
        result.registers.push(codes[*e] & is_operand ? -1 - r : r);
      }
      codes[m] = group << code_bits | step;
    }
    const int n = operands_ - first;
    if (p.role != program_role::before) p.value = n;
    if (p.role == program_role::after)
      for (int k = first_register; k < result.registers.count; ++k)
        if (result.registers.data[k] == -1 - op_result) result.registers.data[k] = -1 - n;
    if (x.outputs == 1) out[operands_++] = {storage::slot, x.type, root, x.shape};
    const bool alone = p.role == program_role::all;
    const node& op = g_.nodes.data[alone ? root : members.op];
    result.instructions.data[count_++] = {.op = alone ? &op_def_of<ops::fused> : op.op,
                                          .node = model_[root],
                                          .device = device_[root],
                                          .region = x.region,
                                          .operands = first,
                                          .n_operands = n,
                                          .n_outputs = x.outputs,
                                          .attrs = alone ? 0 : op.attrs,
                                          .n_attrs = alone ? 0 : op.n_attrs,
                                          .program = result.programs.push(p),
                                          .first_region = 0,
                                          .n_regions = 0,
                                          .in_place = -1,
                                          .predecessors = 0,
                                          .successors = 0,
                                          .n_successors = 0};
  }

  // The primitives around an owner's regions: k is 0 where they begin, and one more than its place where one ends.
  constexpr void instruct_flow(int i, int k) {
    const node& x = g_.nodes.data[i];
    const bool loop = x.op->is(trait::iterates);
    const int first = operands_;
    if (k == 0 && loop) {
      for (int n = 0; n < x.outputs; ++n) pass_on(g_.inputs(i)[n]);
      add_flow(op_def_of<ops::enter>, i, x.region, first, operands_ - first, true);
    } else if (k == 0) {
      pass_on(g_.inputs(i)[0]);
      add_flow(op_def_of<ops::switch_>, i, x.region, first, 1, true);
    } else if (loop && k == 1) {
      pass_on(g_.results(x.first_region)[0]);
      add_flow(op_def_of<ops::switch_>, i, x.first_region, first, 1, false);
    } else {
      const int region = x.first_region + k - 1;
      for (int n = 0; n < x.outputs; ++n) pass_on(g_.results(region)[n]);
      add_flow(loop ? op_def_of<ops::next_iteration> : op_def_of<ops::merge>, i, region, first, operands_ - first,
               true);
    }
    if (k == 0)
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) result.regions[r].entry = count_ - 1;
    else
      result.regions[x.first_region + k - 1].count = count_ - result.regions[x.first_region + k - 1].first;
    if (k < x.n_regions) result.regions[x.first_region + k].first = count_;
  }
  // What is copied: a constant is one number.
  constexpr void pass_on(int id) {
    operand& o = result.operands.data[operands_++] = at_[id];
    if (o.where == storage::constant) o.shape = 0;
  }
  constexpr void add_result(int id) {
    result.operands.data[operands_++] = {storage::slot, g_.nodes[id].type, id, g_.nodes[id].shape};
  }
  constexpr void add_flow(const op_def& op, int i, int region, int first, int n_in, bool gives) {
    const node& x = g_.nodes.data[i];
    for (int k = 0; k < x.outputs && gives; ++k) add_result(result_of(x, i, k));
    result.instructions.data[count_++] = {.op = &op,
                                          .node = model_[i],
                                          .device = device_[i],
                                          .region = region,
                                          .operands = first,
                                          .n_operands = n_in,
                                          .n_outputs = gives ? x.outputs : 0,
                                          .attrs = x.attrs,
                                          .n_attrs = x.n_attrs,
                                          .program = 0,
                                          .first_region = 0,
                                          .n_regions = 0,
                                          .in_place = -1,
                                          .predecessors = 0,
                                          .successors = 0,
                                          .n_successors = 0};
  }
  // Reads what its regions read and give, so that all of it is there for as long as they run: constants, too, that were
  // written before.
  constexpr void instruct_owner(int i) {
    const node& x = g_.nodes.data[i];
    const bool loop = x.op->is(trait::iterates);
    const int first = operands_, entry = result.regions[x.first_region].entry;
    operand* out = result.operands.data;
    for (int k = 0; k < x.outputs; ++k) add_result(result_of(x, i, k));
    for (int k = loop ? x.outputs : 0; k < x.n_inputs; ++k) pass_on(g_.inputs(i)[k]);
    if (x.region == 0)
      for (int m = entry; m < count_; ++m) {
        const instruction& y = result.instructions[m];
        for (int k = y.operands; k < y.operands + y.n_operands; ++k) {
          const operand o = out[k];
          if (o.where != storage::slot || g_.nodes[o.index].op->id != ops::constant::id || codes_[o.index] == -1 - i)
            continue;
          codes_[o.index] = -1 - i;
          out[operands_++] = o;
        }
      }
    result.instructions.data[count_++] = {.op = loop ? &op_def_of<ops::exit> : &op_def_of<ops::merge>,
                                          .node = model_[i],
                                          .device = device_[i],
                                          .region = x.region,
                                          .operands = first,
                                          .n_operands = operands_ - first,
                                          .n_outputs = 0,
                                          .attrs = x.attrs,
                                          .n_attrs = x.n_attrs,
                                          .program = 0,
                                          .first_region = x.first_region,
                                          .n_regions = x.n_regions,
                                          .in_place = -1,
                                          .predecessors = 0,
                                          .successors = 0,
                                          .n_successors = 0};
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) result.regions[r].owner = count_ - 1;
  }

  // Between instructions of one region: what waits inside a region for something outside makes its owner wait.
  constexpr void find_controls(int after) {
    for (int before : g_.controls(after)) {
      if (g_.nodes[before].op->id == ops::output::id) before = g_.inputs(before)[0];
      if (at_[before].where == storage::slot && g_.nodes[at_[before].index].region == g_.nodes[before].region)
        before = at_[before].index;
      int around = after;
      while (g_.nodes[around].region != g_.nodes[before].region) around = g_.regions[g_.nodes[around].region].owner;
      if (instruction_of_[before] != 0) controls.push({instruction_of_[before] - 1, instruction_of_[around] - 1});
    }
  }

  constexpr void name_devices(detail::slice<std::string_view> names) {
    for (const std::string_view name : names) {
      const int length = static_cast<int>(name.size());
      result.devices.push({result.chars.append(name.data(), length), length});
    }
  }
  // memory.hpp knows the slots.
  constexpr void find_channels() {
    int count = 0;
    for (const instruction& x : result.instructions) count += x.op->id == ops::send::id;
    result.channels = detail::vec<channel>(count);
    for (int i = 0; i < count_; ++i) {
      const instruction& x = result.instructions[i];
      if (x.op->id == ops::send::id) begin_channel(result.channels[channel_of(x)], x, i);
      if (x.op->id == ops::recv::id)
        result.channels[channel_of(x)].receive = i, result.channels[channel_of(x)].to = x.device;
    }
    for (channel& c : result.channels) c.shared = c.shared && share_memory(device(c.from), device(c.to));
  }
  constexpr int channel_of(const instruction& x) const { return static_cast<int>(result.words[x.attrs]); }
  constexpr device_name device(int k) const { return parse_own_device(result.view().text(result.devices[k])); }
  // A variable may change before its value is read; what is made in a region changes with every turn.
  constexpr void begin_channel(channel& c, const instruction& x, int i) const {
    c.send = i, c.from = x.device;
    c.shared = x.region == 0 && x.n_operands != 0 && result.operands[x.operands].where != storage::variable;
  }

  constexpr void describe(const draft_view& d) {
    for (const int f : d.fetches) {
      operand o = at_[f];
      if (needs_elements(o, false)) pass_constant(o, false);
      result.fetches.push(o);
    }
    for (const int f : d.feeds) {
      const node& x = g_.nodes[f];
      result.feeds.push({.node = model_[f], .shape = x.shape, .device = device_[f], .type = x.type});
    }
    for (const int v : locations_.variable_nodes) {
      const node& x = g_.nodes.data[v];
      result.variables.push({.node = model_[v],
                             .shape = x.shape,
                             .device = device_[v],
                             .type = x.type,
                             .written = locations_.written[v]});
    }
    for (const int c : locations_.constant_nodes)
      result.constants.push({.word = g_.words.data[g_.nodes.data[c].attrs], .type = g_.nodes.data[c].type});
    for (const int c : locations_.literal_nodes) {
      const node& x = g_.nodes[c];
      result.literals.push({.words = x.attrs, .n_words = x.n_attrs, .shape = x.shape, .type = x.type});
    }
    result.shapes = detail::vec<shape_entry>(g_.shapes);
    result.dims = detail::vec<extent>(g_.dims);
    result.chars = detail::vec<char>(g_.symbol_chars);
    for (const symbol& s : g_.symbol_entries) result.symbols.push({s.text, s.length});
    if (g_.symbol_entries.count != 0) find_checks();
  }

  // Rules that ask for room are asked once more, for what depends on names.
  constexpr void find_checks() {
    symbols names;
    detail::vec<room_needed> rooms;
    for (int i = 0; i < g_.nodes.count; ++i) {
      const node& x = g_.nodes.data[i];
      if (!(static_cast<unsigned>(x.op->traits) & bit::bounded)) continue;
      for (int k = names.size(); k < g_.symbol_entries.count; ++k) names.intern(g_.symbol_text(-1 - k));
      inference rule(names);
      rooms.clear();
      rule.collect(rooms);
      for (const int e : g_.inputs(i)) rule.operand(g_.shape(g_.nodes[e].shape), g_.nodes[e].type);
      rule.attributes(g_.words.data + x.attrs);
      rule.declare(g_.shape(x.shape), x.type);
      x.op->infer(rule);
      for (const room_needed& r : rooms) result.checks.push({r.whole, r.part, r.least, r.otherwise, model_[i]});
    }
    for (int k = g_.symbol_entries.count; k < names.size(); ++k) {
      const std::string_view text = names.text(-1 - k);
      const int length = static_cast<int>(text.size());
      result.symbols.push({result.chars.append(text.data(), length), length});
    }
  }

  graph_view g_;
  const int* model_;
  const int* device_;
  const locations& locations_;
  const operand* at_;
  const fusion& fusion_;
  detail::vec<int> codes_;
  detail::vec<int> instruction_of_;  // of each node: instruction + 1
  int count_ = 0, operands_ = 0;
};

constexpr lowered lower(const draft_view& d, const assignment& on, const locations& l, const fusion& f,
                        detail::slice<int> sequence) {
  lowering made(d, on, l, f, sequence);
  return {static_cast<plan_data&&>(made.result), static_cast<detail::vec<control>&&>(made.controls)};
}

}  // namespace flowgraph::passes
