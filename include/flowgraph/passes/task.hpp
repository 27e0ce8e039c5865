// A task's part of a plan: what it runs where several tasks share a step, each in a process of its own. The same
// function cuts at compile time, so that a model can be held to it, and in programs, which never send plans: every task
// has the whole plan and takes its part. What goes to another task keeps its channel, of which one end is here.
#pragma once
#include <flowgraph/graph/device.hpp>
#include <flowgraph/plan/bind.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

// The tasks that a list of devices belongs to, in the order in which the list names them.
struct task_list {
  detail::vec<device_name> tasks;  // job and task alone
  detail::vec<int> of_device;      // index into tasks

  constexpr int size() const { return tasks.count; }
  // -1: the list has no device of it.
  constexpr int find(std::string_view job, int task) const {
    for (int t = 0; t < tasks.count; ++t)
      if (tasks[t].job == job && tasks[t].task == task) return t;
    return -1;
  }
};

constexpr task_list tasks_of(detail::slice<std::string_view> devices) {
  task_list all;
  for (const std::string_view name : devices) {
    device_name d = parse_own_device(name);
    d.kind = {}, d.index = -1;
    int t = all.find(d.job, d.task);
    if (t < 0) t = all.tasks.push(d);
    all.of_device.push(t);
  }
  return all;
}
constexpr task_list tasks_of(const plan_view& p) {
  detail::vec<std::string_view> names;
  for (const text_range& r : p.devices) names.push(p.text(r));
  return tasks_of(names);
}

// A part, and what of the whole plan its rows are.
struct task_plan {
  plan_data plan;
  detail::vec<int> instructions;
  detail::vec<int> feeds;
  detail::vec<int> fetches;
};

class task_cutter {
 public:
  constexpr task_cutter(const plan_view& whole, const task_list& tasks, int task)
      : from_(whole),
        tasks_(tasks),
        task_(task),
        instruction_(whole.instructions.count),
        slot_(whole.slots.count),
        variable_(whole.variables.count),
        feed_(whole.feeds.count),
        constant_(whole.constants.count),
        literal_(whole.literals.count),
        program_(whole.programs.count),
        region_(whole.regions.count) {
    plan_data& p = result.plan;
    p.fault = whole.fault;
    p.shapes = detail::vec<shape_entry>(whole.shapes);
    p.dims = detail::vec<extent>(whole.dims);
    p.symbols = detail::vec<text_range>(whole.symbols);
    p.checks = detail::vec<extent_check>(whole.checks);
    p.chars = detail::vec<char>(whole.chars);
    p.devices = detail::vec<text_range>(whole.devices);
    if (whole.programs.count > 0) p.programs.push({});
    // Slots keep their order, and feeds and variables theirs: who counts them need not ask what they were.
    for (int i = 0; i < whole.slots.count; ++i)
      if (is_here(whole.slots[i].device)) slot_[i] = p.slots.push(whole.slots[i]) + 1;
    for (int i = 0; i < whole.variables.count; ++i)
      if (is_here(whole.variables[i].device)) variable_[i] = p.variables.push(whole.variables[i]) + 1;
    for (int i = 0; i < whole.feeds.count; ++i)
      if (is_here(whole.feeds[i].device)) feed_[i] = p.feeds.push(whole.feeds[i]) + 1, result.feeds.push(i);
    for (int i = 0; i < whole.instructions.count; ++i)
      if (is_here(whole.instructions[i].device)) instruction_[i] = result.instructions.push(i) + 1;
    find_regions();
    for (const int i : result.instructions) copy(whole.instructions[i]);
    for (int r = 1; r < whole.regions.count; ++r)
      if (region_[r] != 0) place_region(whole.regions[r], p.regions[region_[r]]);
    for (const channel& c : whole.channels) p.channels.push(copied(c));
    for (int i = 0; i < whole.fetches.count; ++i)
      if (task_of_fetch(i) == task_) p.fetches.push(copied(whole.fetches[i])), result.fetches.push(i);
    for (int i = 0; i < whole.reasons.count; ++i)
      if (instruction_[i] != 0) p.reasons.push(whole.reasons[i]);
  }

  task_plan result;

 private:
  constexpr bool is_here(int device) const { return tasks_.of_device[device] == task_; }

  // What no device has is the first task's.
  constexpr int task_of_fetch(int i) const {
    const operand& o = from_.fetches[i];
    const int device = o.where == storage::slot       ? from_.slots[o.index].device
                       : o.where == storage::variable ? from_.variables[o.index].device
                       : o.where == storage::feed     ? from_.feeds[o.index].device
                                                      : 0;
    return tasks_.of_device[device];
  }

  // Regions are of their owner's device with all that is in them.
  constexpr void find_regions() {
    detail::vec<plan_region>& to = result.plan.regions;
    if (from_.regions.count > 0) to.push({-1, 0, 0, result.instructions.count});
    for (int r = 1; r < from_.regions.count; ++r)
      if (from_.regions[r].owner >= 0 && instruction_[from_.regions[r].owner] != 0) region_[r] = to.push({});
  }
  constexpr void place_region(const plan_region& x, plan_region& to) const {
    to.owner = instruction_[x.owner] - 1;
    to.entry = instruction_[x.entry] - 1;
    to.count = x.count;
    to.first = x.count == 0 ? to.owner : instruction_[x.first] - 1;
  }

  constexpr void copy(const instruction& x) {
    plan_data& p = result.plan;
    instruction y = x;
    y.region = region_[x.region];
    y.operands = p.operands.count;
    for (int k = x.operands; k < x.operands + x.n_operands + x.n_outputs; ++k) {
      const operand o = copied(from_.operands[k]);
      p.operands.push(o);
    }
    y.attrs = p.words.append(from_.words.data + x.attrs, x.n_attrs);
    y.program = x.program == 0 ? 0 : copied_program(x.program);
    y.first_region = x.n_regions == 0 ? 0 : region_[x.first_region];
    y.successors = p.successors.count;
    y.n_successors = 0;
    for (const int s : from_.next(x)) {
      // Only what is sent ties devices together.
      if (instruction_[s] == 0) p.fault = {problem::invalid_plan, x.node};
      p.successors.push(instruction_[s] - 1), ++y.n_successors;
    }
    p.instructions.push(y);
  }
  constexpr operand copied(operand o) {
    switch (o.where) {
      case storage::none:
        break;
      case storage::slot:
        o.index = here(slot_[o.index]);
        break;
      case storage::variable:
        o.index = here(variable_[o.index]);
        break;
      case storage::feed:
        o.index = here(feed_[o.index]);
        break;
      case storage::constant: {
        int& to = constant_[o.index];
        if (to == 0) to = result.plan.constants.push(from_.constants[o.index]) + 1;
        o.index = to - 1;
        break;
      }
      case storage::literal: {
        int& to = literal_[o.index];
        if (to == 0) {
          literal_use l = from_.literals[o.index];
          l.words = result.plan.words.append(from_.words.data + l.words, l.n_words);
          to = result.plan.literals.push(l) + 1;
        }
        o.index = to - 1;
        break;
      }
    }
    return o;
  }
  // Of what an instruction of this task reads and writes.
  constexpr int here(int index) {
    if (index == 0) result.plan.fault = {problem::invalid_plan, -1};
    return index - 1;
  }
  constexpr int copied_program(int i) {
    plan_data& p = result.plan;
    if (program_[i] != 0) return program_[i];
    program x = from_.programs[i];
    const int first = x.steps;
    x.steps = p.steps.count;
    for (int s = first; s < first + x.n_steps; ++s) {
      program_step step = from_.steps[s];
      step.inputs = p.registers.append(from_.registers.data + step.inputs, step.n_inputs);
      step.attrs = p.words.append(from_.words.data + step.attrs, step.n_attrs);
      p.steps.push(step);
    }
    return program_[i] = p.programs.push(x);
  }
  constexpr channel copied(channel c) const {
    c.send = instruction_[c.send] - 1;
    c.receive = instruction_[c.receive] - 1;
    c.slot = c.receive < 0 || c.slot < 0 ? -1 : slot_[c.slot] - 1;
    c.shared = c.shared && c.receive >= 0;
    return c;
  }

  const plan_view& from_;
  const task_list& tasks_;
  int task_;
  // Of each row of the whole plan: which one it is here, + 1; 0: it is not. Of programs and regions, whose first is
  // not counted, without the 1.
  detail::vec<int> instruction_, slot_, variable_, feed_, constant_, literal_, program_, region_;
};

// task: of tasks_of(whole). Its fault is the whole plan's, or invalid_plan where that has no such parts.
constexpr task_plan task_part(const plan_view& whole, int task) {
  const task_list tasks = tasks_of(whole);
  task_cutter cut(whole, tasks, task);
  return static_cast<task_plan&&>(cut.result);
}

// What a step sends between tasks that match these: by any part of their names, "/job:worker" and "/job:ps/task:1".
// What is sent in a loop or a branch counts once. -1: an extent is not bound.
constexpr std::int64_t bytes_sent(const plan_view& p, const device_name& from, const device_name& to,
                                  detail::slice<binding> bindings) {
  const task_list tasks = tasks_of(p);
  std::int64_t sum = 0;
  for (const channel& c : p.channels) {
    const int a = tasks.of_device[c.from], b = tasks.of_device[c.to];
    if (a == b || !from.matches(tasks.tasks[a]) || !to.matches(tasks.tasks[b])) continue;
    const std::int64_t bytes = flowgraph::bytes_sent(p, c, bindings);
    if (bytes < 0) return -1;
    sum += bytes;
  }
  return sum;
}

// How parts of plans understand each other: what is sent in which order, and what messages mean. Another number for
// every change of that.
inline constexpr std::uint64_t parts_version = 1;

// Equal where tasks that have planned by themselves, from the same model, have the same plan: of graph (its
// fingerprint), signature, devices and version. A check of mistakes, no protection.
constexpr std::uint64_t fingerprint(const plan_view& p, std::uint64_t graph) {
  const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  std::uint64_t h = detail::mix(graph, parts_version);
  for (const text_range& r : p.devices) h = detail::mix(h, detail::hash(p.text(r)));
  const auto add = [&](const operand& o) {
    h = detail::mix(detail::mix(h, number(static_cast<int>(o.where))), number(o.index));
    if (o.where == storage::none) return;
    h = detail::mix(h, number(static_cast<int>(o.type)));
    for (const extent e : p.dims_of(o.shape)) h = e < 0 ? detail::hash(p.symbol_text(e), h) : detail::mix(h, number(e));
  };
  for (const feed_use& f : p.feeds) h = detail::mix(detail::mix(h, number(f.node)), number(f.device));
  for (const operand& o : p.fetches) add(o);
  for (const instruction& x : p.instructions) {
    h = detail::mix(detail::mix(detail::mix(h, x.op->id), number(x.node)), number(x.device));
    for (const operand& o : p.inputs(x)) add(o);
    for (const operand& o : p.outputs(x)) add(o);
    for (const std::int64_t w : p.attrs(x)) h = detail::mix(h, number(w));
  }
  for (const channel& c : p.channels) h = detail::mix(detail::mix(h, number(c.send)), number(c.receive));
  return h;
}

}  // namespace flowgraph::passes
