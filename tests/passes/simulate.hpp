// Runs graphs and plans without kernels: a value is a hash of how it was computed. A graph runs node by node as it was
// written; a plan runs in any order that its dependencies allow. Both must see the same values.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/passes/task.hpp>
#include "regions.hpp"

namespace simulation {

namespace fg = flowgraph;
using value = std::uint64_t;

inline value feed_value(int node) { return fg::detail::mix(0xFEED, static_cast<value>(node)); }
inline value variable_value(int node) { return fg::detail::mix(0x5EED, static_cast<value>(node)); }

// What an op gives from these operands; the k-th result of several.
inline value compute(const fg::op_def& op, const std::vector<value>& in, fg::detail::slice<std::int64_t> words,
                     int result = 0) {
  if (op.is(fg::trait::view)) return in[0];
  value h = op.id + static_cast<value>(result);
  for (const std::int64_t w : words) h = fg::detail::mix(h, static_cast<value>(w));
  value sum = 0;
  for (const value v : in) {
    if (op.is(fg::trait::commutative))
      sum += fg::detail::mix(0, v);
    else
      h = fg::detail::mix(h, v);
  }
  return fg::detail::mix(h, sum);
}

inline bool truth(value v) { return v & 1; }

// Control flow that hands values on.
inline bool copies(const fg::instruction& x) {
  return x.op->id == fg::ops::enter::id || x.op->id == fg::ops::merge::id || x.op->id == fg::ops::next_iteration::id;
}

struct outcome {
  std::vector<value> fetches;
  std::map<int, value> variables;  // by node of the model
  std::vector<value> notes;        // in the order they were made
};

// The graph as it was written: what the fetches need, in order of creation.
class graph_run {
 public:
  graph_run(const fg::graph_view& g, const std::vector<int>& fetches)
      : g_(g),
        needed_(size(g.size())),
        at_(size(g.size())) {
    for (const int f : fetches) need(f);
    for (int i = 0; i < g.size(); ++i)
      if (is_variable(i)) result.variables[i] = variable_value(i);
    run(0);
    for (const int f : fetches) result.fetches.push_back(is_variable(f) ? result.variables[f] : at_[size(f)]);
    for (auto it = result.variables.begin(); it != result.variables.end();)
      it = needed_[size(it->first)] ? std::next(it) : result.variables.erase(it);
  }
  outcome result;

 private:
  static std::size_t size(int i) { return static_cast<std::size_t>(i); }
  bool is_variable(int i) const { return g_.nodes[i].op->id == fg::ops::variable::id; }

  void need(int i) {
    if (needed_[size(i)]) return;
    needed_[size(i)] = true;
    for (const int e : g_.inputs(i)) need(e);
    for (const int e : g_.controls(i)) need(e);
    const fg::node& x = g_.nodes[i];
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
      for (const int e : g_.results(r)) need(e);
  }

  value read(int i) {
    const int source = fg::passes::outside(g_, i);
    return is_variable(source) ? result.variables[source] : at_[size(i)];
  }

  void run(int region) {
    for (int i = 0; i < g_.size(); ++i)
      if (g_.nodes[i].region == region && needed_[size(i)]) run_node(i);
  }
  void run_node(int i) {
    const fg::node& x = g_.nodes[i];
    if (x.op->id == fg::ops::argument::id || is_variable(i)) return;
    if (x.op->id == fg::ops::placeholder::id) {
      at_[size(i)] = feed_value(i);
      return;
    }
    if (x.op->id == fg::ops::output::id) {
      at_[size(i)] = several_[size(static_cast<int>(g_.attrs(i)[0]))];
      return;
    }
    std::vector<value> in;
    for (const int e : g_.inputs(i)) in.push_back(read(e));
    if (x.op->id == fg::ops::cond::id) {
      const int r = x.first_region + (truth(in[0]) ? 0 : 1);
      bind(i, in);
      run(r);
      at_[size(i)] = read(g_.results(r)[0]);
    } else if (x.op->id == fg::ops::while_loop::id) {
      for (int turn = 0;; ++turn) {
        bind(i, in);
        run(x.first_region);
        if (!truth(read(g_.results(x.first_region)[0])) || turn == test_ops::most_turns) break;
        run(x.first_region + 1);
        in[0] = read(g_.results(x.first_region + 1)[0]);
      }
      at_[size(i)] = in[0];
    } else if (x.op->is(fg::trait::writes_operand)) {
      result.variables[fg::passes::outside(g_, g_.inputs(i)[0])] = compute(*x.op, in, g_.attrs(i));
    } else {
      if (x.op->id == test_ops::note::id) result.notes.push_back(in[0]);
      several_.clear();
      for (int k = 0; k < x.outputs; ++k) several_.push_back(compute(*x.op, in, g_.attrs(i), k));
      if (x.outputs == 1) at_[size(i)] = several_[0];
    }
  }
  void bind(int owner, const std::vector<value>& in) {
    const fg::node& x = g_.nodes[owner];
    for (int i = 0; i < owner; ++i)
      if (g_.nodes[i].op->id == fg::ops::argument::id && g_.nodes[i].region >= x.first_region &&
          g_.nodes[i].region < x.first_region + x.n_regions)
        at_[size(i)] = in[size(static_cast<int>(g_.attrs(i)[0]))];
  }

  const fg::graph_view& g_;
  std::vector<bool> needed_;
  std::vector<value> at_;
  std::vector<value> several_;
};

// What is on its way, by channel, and who is at its ends: one process or several that run parts of one plan.
struct wires {
  std::vector<std::deque<value>> sent;
  std::vector<class process*> receivers;
};

// A plan or a task's part of it. Instructions of all regions that have begun run beside each other: each device has its
// own part of a loop.
class process {
 public:
  process(const fg::plan_view& p, wires& w)
      : p_(p),
        slots_(static_cast<std::size_t>(p.slots.size()), 0xDEAD),
        waits_(static_cast<std::size_t>(p.instructions.size())),
        left_(static_cast<std::size_t>(p.regions.size())),
        turns_(waits_.size()),
        sent_(w.sent),
        receivers_(w.receivers) {
    for (const fg::variable_use& v : p.variables) variables_.push_back(variable_value(v.node));
    sent_.resize(static_cast<std::size_t>(p.channels.size()));
    receivers_.resize(sent_.size());
    for (int k = 0; k < p.channels.size(); ++k)
      if (p.channels[k].receive >= 0) receivers_[static_cast<std::size_t>(k)] = this;
    begin(0);
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  // What could run now.
  std::vector<int> able() const {
    std::vector<int> all;
    for (const int i : ready_)
      if (may_run(i)) all.push_back(i);
    return all;
  }
  void run(int i) {
    ready_.erase(std::find(ready_.begin(), ready_.end(), i));
    const fg::instruction& x = p_.instructions[i];
    if (x.n_regions == 0) {
      execute(x);
      done(i);
    } else if (x.op->id == fg::ops::merge::id) {
      begin(x.first_region + (truth(read(operand_of(entry_of(x)))) ? 0 : 1));
    } else {
      turns_[static_cast<std::size_t>(i)] = 0;
      begin(x.first_region);
    }
  }
  bool over() const { return left_[0] == 0; }

  value fetch(int k) const {
    const fg::operand& o = p_.fetches[k];
    return o.where == fg::storage::none ? 0 : read(o);
  }
  void add_state(outcome& to) const {
    for (int i = 0; i < p_.variables.size(); ++i)
      to.variables[p_.variables[i].node] = variables_[static_cast<std::size_t>(i)];
    to.notes.insert(to.notes.end(), notes_.begin(), notes_.end());
  }

 private:
  value read(const fg::operand& o) const {
    const auto i = static_cast<std::size_t>(o.index);
    switch (o.where) {
      case fg::storage::slot:
        for (const fg::channel& c : p_.channels)  // what is shared is read where it was made
          if (c.shared && c.slot == o.index) return read(p_.operands[p_.instructions[c.send].operands]);
        return slots_[i];
      case fg::storage::variable:
        return variables_[i];
      case fg::storage::feed:
        return feed_value(p_.feeds[o.index].node);
      case fg::storage::constant: {
        const std::int64_t word = p_.constants[o.index].word;
        return compute(fg::op_def_of<fg::ops::constant>, {}, {&word, 1});
      }
      case fg::storage::literal: {
        const fg::literal_use& l = p_.literals[o.index];
        return compute(fg::op_def_of<fg::ops::literal>, {}, {p_.words.data + l.words, l.n_words});
      }
      default:
        return 0;
    }
  }
  void write(const fg::operand& o, value v) { slots_[static_cast<std::size_t>(o.index)] = v; }

  int last_of(int region) const { return p_.regions[region].first + p_.regions[region].count - 1; }
  void begin(int region) {
    const fg::plan_region& r = p_.regions[region];
    int& left = left_[static_cast<std::size_t>(region)] = 0;
    for (int i = r.first; i < r.first + r.count; ++i) {
      if (p_.instructions[i].region != region || (region != 0 && i == last_of(region))) continue;
      ++left;
      waits_[static_cast<std::size_t>(i)] = p_.instructions[i].predecessors;
      if (p_.instructions[i].predecessors == 0) ready_.push_back(i);
    }
    if (left == 0 && region != 0) end(region);
  }
  // All in it is done but what ends it.
  void end(int region) {
    const int owner = p_.regions[region].owner, first = p_.instructions[owner].first_region, last = last_of(region);
    if (p_.instructions[owner].op->id == fg::ops::merge::id) {
      execute(p_.instructions[last]);
      return done(owner);
    }
    if (region != first) {
      execute(p_.instructions[last]);
      ++turns_[static_cast<std::size_t>(owner)];
      return begin(first);
    }
    if (!truth(read(operand_of(p_.instructions[last]))) ||
        turns_[static_cast<std::size_t>(owner)] == test_ops::most_turns)
      return done(owner);
    begin(first + 1);
  }
  void done(int i) {
    const fg::instruction& x = p_.instructions[i];
    for (const int next : p_.next(x))
      if (next != last_of(x.region) || x.region == 0)
        if (--waits_[static_cast<std::size_t>(next)] == 0) ready_.push_back(next);
    if (--left_[static_cast<std::size_t>(x.region)] == 0 && x.region != 0) end(x.region);
  }
  const fg::channel& channel_of(const fg::instruction& x) const {
    return p_.channels[static_cast<int>(p_.attrs(x)[0])];
  }
  process& receiver_of(const fg::instruction& send) const {
    return *receivers_[static_cast<std::size_t>(p_.attrs(send)[0])];
  }
  void arrive(std::int64_t channel, value v) {
    slots_[static_cast<std::size_t>(p_.channels[static_cast<int>(channel)].slot)] = v;
  }
  // A send waits for room, a recv for what was sent.
  bool may_run(int i) const {
    const fg::instruction& x = p_.instructions[i];
    const bool sends = x.op->id == fg::ops::send::id;
    if (!sends && x.op->id != fg::ops::recv::id) return true;
    const std::size_t on_the_way = sent_[static_cast<std::size_t>(p_.attrs(x)[0])].size();
    return sends ? on_the_way < static_cast<std::size_t>(x.region == 0 ? 1 : fg::turns_on_the_way) : on_the_way > 0;
  }
  value run_program(const fg::instruction& x, std::vector<value> in) {
    const fg::program& p = p_.programs[x.program];
    std::vector<value> own(in.begin(), in.begin() + p.own), steps;
    if (p.role == fg::program_role::after) in.push_back(compute(*x.op, own, p_.attrs(x)));
    for (const fg::program_step& s : p_.steps_of(p)) {
      std::vector<value> operands;
      for (int k = 0; k < s.n_inputs; ++k) {
        const int r = p_.registers[s.inputs + k];
        operands.push_back(r >= 0 ? steps[static_cast<std::size_t>(r)] : in[static_cast<std::size_t>(-1 - r)]);
      }
      steps.push_back(compute(*s.op, operands, {p_.words.data + s.attrs, s.n_attrs}));
    }
    if (p.role != fg::program_role::before) return steps.back();
    own[static_cast<std::size_t>(p.value)] = steps.back();
    return compute(*x.op, own, p_.attrs(x));
  }

  const fg::operand& operand_of(const fg::instruction& x) const { return p_.operands[x.operands]; }
  const fg::instruction& entry_of(const fg::instruction& owner) const {
    return p_.instructions[p_.regions[owner.first_region].entry];
  }
  void execute(const fg::instruction& x) {
    std::vector<value> in;
    for (const fg::operand& o : p_.inputs(x)) in.push_back(read(o));
    const auto out = p_.outputs(x);
    if (x.program != 0) {
      const value v = run_program(x, in);
      if (x.op->is(fg::trait::writes_operand))
        variables_[static_cast<std::size_t>(p_.inputs(x)[0].index)] = v;
      else
        write(out[0], v);
    } else if (x.op->id == fg::ops::send::id) {
      // Outside of regions it arrives where it stays, whenever it was sent.
      if (!channel_of(x).shared && !in.empty() && x.region == 0) receiver_of(x).arrive(p_.attrs(x)[0], in[0]);
      sent_[static_cast<std::size_t>(p_.attrs(x)[0])].push_back(in.empty() ? 0 : in[0]);
    } else if (x.op->id == fg::ops::recv::id) {
      const fg::channel& c = channel_of(x);
      auto& sent = sent_[static_cast<std::size_t>(p_.attrs(x)[0])];
      if (c.slot >= 0 && !c.shared && x.region != 0) write(out[0], sent.front());
      sent.pop_front();
    } else if (copies(x)) {
      for (int k = 0; k < out.size(); ++k) write(out[k], in[static_cast<std::size_t>(k)]);
    } else if (x.op->id == fg::ops::switch_::id) {
      return;
    } else if (x.op->is(fg::trait::writes_operand)) {
      variables_[static_cast<std::size_t>(p_.inputs(x)[0].index)] = compute(*x.op, in, p_.attrs(x));
    } else {
      if (x.op->id == test_ops::note::id) notes_.push_back(in[0]);
      for (int k = 0; k < out.size(); ++k) write(out[k], compute(*x.op, in, p_.attrs(x), k));
    }
  }

  const fg::plan_view& p_;
  std::vector<value> slots_;
  std::vector<value> variables_;
  std::vector<value> notes_;
  std::vector<int> ready_;
  std::vector<int> waits_;  // of each instruction: how many of its region must be done before
  std::vector<int> left_;   // of each region: how many are not done
  std::vector<int> turns_;  // of each loop, by its owner
  std::vector<std::deque<value>>& sent_;
  std::vector<process*>& receivers_;
};

// All of them to their end, in a random order that dependencies and channels allow; without a generator in the serial
// order of each, as far as channels do.
inline void run(const std::vector<process*>& all, const wires& w, std::mt19937* random) {
  for (;;) {
    std::vector<std::pair<process*, int>> able;
    for (process* const p : all)
      for (const int i : p->able()) able.emplace_back(p, i);
    if (able.empty()) break;
    const auto [p, i] = random ? able[(*random)() % able.size()] : *std::min_element(able.begin(), able.end());
    p->run(i);
  }
  for (const process* const p : all)
    if (!p->over()) throw std::logic_error("instructions wait for each other");
  for (const auto& c : w.sent)
    if (!c.empty()) throw std::logic_error("sent, and never received");
}

// A plan in one process.
class plan_run {
 public:
  plan_run(const fg::plan_view& p, std::mt19937* random) {
    wires w;
    process all(p, w);
    run({&all}, w, random);
    for (int k = 0; k < p.fetches.size(); ++k) result.fetches.push_back(all.fetch(k));
    all.add_state(result);
  }
  outcome result;
};

// The same plan by a process for each of its tasks.
class parts_run {
 public:
  parts_run(const fg::plan_view& p, const std::vector<fg::passes::task_plan>& parts, std::mt19937* random) {
    wires w;
    std::vector<fg::plan_view> views;
    std::vector<std::unique_ptr<process>> own;
    std::vector<process*> all;
    for (const auto& part : parts) views.push_back(part.plan.view());
    for (const fg::plan_view& v : views) all.push_back(own.emplace_back(std::make_unique<process>(v, w)).get());
    run(all, w, random);
    result.fetches.resize(static_cast<std::size_t>(p.fetches.size()));
    for (std::size_t t = 0; t < parts.size(); ++t) {
      for (int k = 0; k < parts[t].fetches.size(); ++k)
        result.fetches[static_cast<std::size_t>(parts[t].fetches[k])] = all[t]->fetch(k);
      all[t]->add_state(result);
    }
  }
  outcome result;
};

}  // namespace simulation
