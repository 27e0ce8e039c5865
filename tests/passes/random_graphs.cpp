// Whatever the passes do to a graph, a plan computes what the graph says: for many small graphs with state, control
// edges, regions, several results and several devices, in many orders.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <flowgraph/graph/print.hpp>
#include <flowgraph/plan/bind.hpp>
#include <flowgraph/plan/print.hpp>
#include <flowgraph/plan/verify.hpp>
#include "simulate.hpp"

namespace fg = flowgraph;
namespace ops = flowgraph::ops;

namespace {

class generator {
 public:
  // regions: with branches and loops; without, there is more beside each other.
  generator(fg::graph_data& g, std::mt19937& random, bool devices, bool regions)
      : g_(g),
        random_(random),
        devices_(devices) {
    batch_ = g.symbols.intern("batch");
    shapes_ = {{}, test_ops::shape(4), test_ops::shape(batch_, 4), test_ops::shape(4, 4)};
    for (int s = 0; s < 4; ++s) {
      add(test_ops::placeholder(g, shapes_[static_cast<std::size_t>(s)]));
      add(test_ops::constant(g, shapes_[static_cast<std::size_t>(s)], s + 0.5));
      if (s != 2) add(test_ops::variable(g, shapes_[static_cast<std::size_t>(s)]));
    }
    const int nodes = 10 + pick(30);
    for (int i = 0; i < nodes; ++i) grow(regions ? 0 : 1);
  }

  std::vector<int> fetches() {
    std::vector<int> all;
    for (const fg::ref r : values_)
      if (pick(6) == 0) all.push_back(r.id);
    for (const int u : updates_)
      if (pick(2) == 0) all.push_back(u);
    if (all.empty()) all.push_back(values_.back().id);
    return all;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void add(fg::ref r) { values_.push_back(r); }
  // A value that can be read where nodes are added now.
  fg::ref any() { return values_[static_cast<std::size_t>(pick(static_cast<int>(values_.size())))]; }
  fg::ref like(fg::ref other) {
    for (;;)
      if (const fg::ref r = any(); r.get().shape == other.get().shape) return r;
  }
  bool is_variable(fg::ref r) const { return r.is(fg::op_def_of<ops::variable>); }

  void grow(int depth) {
    if (devices_ && pick(3) == 0) g_.device = pick(2) == 0 ? 0 : g_.intern_text("/cpu:" + std::to_string(pick(3)));
    const fg::ref x = any();
    switch (pick(depth == 0 ? 16 : 11)) {
      case 0:
        return add(-x);
      case 1:
        return add(fg::emit<ops::exp>(x));
      case 2:
        return add(x + like(x));
      case 3:
        return add(x * like(x));
      case 4:
        return add(x - like(x));
      case 5:
        return add(x * test_ops::constant(g_, {}, pick(3)));
      case 6:
        return add(fg::emit<ops::identity>(x));
      case 7:
        if (x.rank() > 0) add(fg::emit<ops::reduce_sum>({(1 << x.rank()) - 1, 0}, x));
        return;
      case 8:
        for (int k = 0; k < 20; ++k)
          if (const fg::ref v = any(); is_variable(v)) {
            updates_.push_back(fg::emit<ops::assign_add>(v, like(v)).id);
            if (g_.current_region != 0) open_updates_.push_back(updates_.back()), updates_.pop_back();
            return;
          }
        return;
      case 9:
        return add(fg::emit<test_ops::note>(x));
      case 10:
        return add(fg::emit<test_ops::refine>(x, any()));
      case 11: {
        const int both = fg::emit<test_ops::halves>(x).id;
        add({&g_, both + 1});
        if (pick(2) == 0) add({&g_, both + 2});
        return;
      }
      case 12:
        if (updates_.empty()) return;
        g_.push_control(updates_[static_cast<std::size_t>(pick(static_cast<int>(updates_.size())))]);
        grow(depth);
        return g_.pop_controls(1);
      case 13:
        if (updates_.size() < 2) return;
        updates_.push_back(ops::append_group(g_, updates_.data(), static_cast<int>(updates_.size())));
        return;
      case 14:
        return add(in_regions([&] {
          return test_ops::choice(
              x, [&] { return body(x); }, [&] { return body(x); });
        }));
      default:
        return add(in_regions([&] {
          return test_ops::loop(
              x, [&](fg::ref s) { return body(s); }, [&](fg::ref s) { return body(s); });
        }));
    }
  }
  // Some nodes inside a region, the last of which has the state's shape.
  fg::ref body(fg::ref state) {
    const std::size_t outside = values_.size();
    values_.push_back(state);
    open_updates_.clear();
    const int nodes = pick(4);
    for (int i = 0; i < nodes; ++i) grow(1);
    for (const int u : open_updates_) g_.push_control(u);
    const fg::ref r = pick(4) == 0 ? state : like(state) + state;
    g_.pop_controls(static_cast<int>(open_updates_.size()));
    values_.resize(outside);
    return r;
  }
  template <class F>
  fg::ref in_regions(const F& make) {
    const int device = g_.device;
    const fg::ref r = make();
    g_.device = device;
    return r;
  }

  fg::graph_data& g_;
  std::mt19937& random_;
  bool devices_;
  fg::extent batch_ = 0;
  std::vector<fg::extents> shapes_;
  std::vector<fg::ref> values_;
  std::vector<int> updates_;       // of the graph itself
  std::vector<int> open_updates_;  // of the region that is being built
};

void check(const std::vector<int>& fetched, const simulation::outcome& expected, const simulation::outcome& got,
           bool notes) {
  for (std::size_t k = 0; k < expected.fetches.size(); ++k) {
    CAPTURE(fetched[k]);
    CHECK(expected.fetches[k] == got.fetches[k]);
  }
  for (const auto& [node, v] : got.variables) CHECK(expected.variables.at(node) == v);
  if (notes) CHECK(expected.notes == got.notes);
}

// Every value fits into its slot; an instruction overwrites what it reads only element by element.
void check_memory(const fg::plan_view& p) {
  const auto bytes = [&](const fg::operand& o, std::int64_t batch) {
    std::int64_t n = fg::size_of(o.type);
    for (const fg::extent e : p.dims_of(o.shape)) n *= e >= 0 ? e : batch;
    return n;
  };
  for (const fg::instruction& x : p.instructions)
    for (const fg::operand& out : p.outputs(x)) {
      const fg::slot& s = p.slots[out.index];
      CHECK(s.device == x.device);
      const bool shared_slot = std::any_of(p.channels.begin(), p.channels.end(),
                                           [&](const fg::channel& c) { return c.shared && c.slot == out.index; });
      for (const std::int64_t batch : {1, 7})
        if (!shared_slot) CHECK(s.bytes * (s.by >= 0 ? s.by : batch) >= bytes(out, batch));
      int shared = 0;
      for (const fg::operand& other : p.outputs(x)) shared += other.index == out.index;
      CHECK(shared == 1);
      for (const fg::operand& in : p.inputs(x))
        if (in.where == fg::storage::slot && in.index == out.index)
          CHECK(((x.in_place >= 0 || simulation::copies(x)) && in.shape == out.shape));
    }
}

// What updates a variable waits for all that its device receives, unless that follows from an update itself.
void check_writes_are_last(const fg::plan_view& p) {
  std::vector<bool> late(static_cast<std::size_t>(p.instructions.size()));
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto writes = [&](int i) {  // on this device, alone or in a region
    const fg::instruction& x = p.instructions[i];
    if (x.op->is(fg::trait::writes_operand)) return true;
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
      for (int k = p.regions[r].first; k < p.regions[r].first + p.regions[r].count; ++k)
        if (p.instructions[k].op->is(fg::trait::writes_operand)) return true;
    return false;
  };
  // What follows from an instruction, sends and receives included.
  const auto follow = [&](int from, std::vector<bool>& after) {
    std::vector<int> left{from};
    const auto reach = [&](int i) {
      if (!after[at(i)]) left.push_back(i);
    };
    while (!left.empty()) {
      const int i = left.back();
      left.pop_back();
      if (after[at(i)]) continue;
      after[at(i)] = true;
      const fg::instruction& x = p.instructions[i];
      for (const int s : p.next(x)) reach(s);
      if (x.op->name == "send") reach(p.channels[static_cast<int>(p.attrs(x)[0])].receive);
      if (x.region != 0) reach(p.regions[x.region].owner);
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
        for (int k = p.regions[r].first; k < p.regions[r].first + p.regions[r].count; ++k) reach(k);
      // All parts of one loop or choice are early or late together.
      for (int k = 0; k < p.instructions.size() && x.n_regions > 0; ++k)
        if (p.instructions[k].n_regions > 0 && p.instructions[k].node == x.node) reach(k);
    }
  };
  for (int i = 0; i < p.instructions.size(); ++i)
    if (p.instructions[i].region == 0 && writes(i)) follow(i, late);
  for (int r = 0; r < p.instructions.size(); ++r) {
    const fg::instruction& x = p.instructions[r];
    if (x.op->name != "recv" || x.region != 0 || late[at(r)]) continue;
    std::vector<bool> after(late.size());
    follow(r, after);
    for (int w = 0; w < p.instructions.size(); ++w)
      if (p.instructions[w].region == 0 && p.instructions[w].op->is(fg::trait::writes_operand) &&
          p.instructions[w].device == x.device) {
        CAPTURE(r);
        CAPTURE(w);
        CHECK(after[at(w)]);
      }
  }
}

// By a process for each task it computes the same. Parts are whole plans, and together they are the plan.
void check_parts(const std::vector<int>& fetches, const simulation::outcome& want, const fg::plan_view& p,
                 std::mt19937& random) {
  std::vector<fg::passes::task_plan> parts;
  int instructions = 0, slots = 0, variables = 0, feeds = 0, fetched = 0;
  for (int t = 0; t < fg::passes::tasks_of(p).size(); ++t) {
    parts.push_back(fg::passes::task_part(p, t));
    const fg::plan_view part = parts.back().plan.view();
    CAPTURE(t);
    REQUIRE(fg::verify(part).why == fg::problem::none);
    check_memory(part);
    instructions += part.instructions.size();
    slots += part.slots.size();
    variables += part.variables.size();
    feeds += part.feeds.size();
    fetched += part.fetches.size();
    CHECK(part.channels.size() == p.channels.size());
  }
  CHECK(instructions == p.instructions.size());
  CHECK(slots == p.slots.size());
  CHECK(variables == p.variables.size());
  CHECK(feeds == p.feeds.size());
  CHECK(fetched == p.fetches.size());
  check(fetches, want, simulation::parts_run(p, parts, nullptr).result, false);
  for (int run = 0; run < 3; ++run) check(fetches, want, simulation::parts_run(p, parts, &random).result, false);
}

}  // namespace

TEST_CASE("a plan computes what the graph says, in any order that it allows") {
  const std::string_view devices[] = {"/job:a/task:0/cpu:0", "/job:a/task:0/cpu:1", "/job:a/task:1/cpu:2"};
  int wide = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    fg::graph_data g;
    const bool several = seed % 2 == 1;
    generator made(g, random, several, seed % 4 != 0);
    const fg::graph_view model = g.view();
    REQUIRE(fg::verify(model).why == fg::problem::none);
    const std::vector<int> fetches = made.fetches();
    const simulation::outcome expected = simulation::graph_run(model, fetches).result;
    const fg::passes::signature s{{fetches.data(), static_cast<int>(fetches.size())}, {}};
    for (const bool on : {false, true}) {
      CAPTURE(on);
      // What folding and simplifying change, hashes don't recognise; numbers do, in simplify.cpp.
      fg::passes::options o{
          .fold = false, .simplify = false, .cse = on, .fuse = on, .verify = true, .allow_unfed = true};
      const fg::plan_data p = fg::passes::plan(model, s, {devices, several ? 3 : 1}, o);
      REQUIRE(fg::verify(p.view()).why == fg::problem::none);
      REQUIRE(p.fault.why == fg::problem::none);
      const fg::plan_view v = p.view();
      INFO(fg::to_text(model));
      INFO(fg::to_text(v, model));
      check_memory(v);
      check_writes_are_last(v);
      simulation::outcome want = expected;
      for (std::size_t k = 0; k < fetches.size(); ++k)  // an operation has no value
        if (model.nodes[fetches[k]].type == fg::dtype::none) want.fetches[k] = 0;
      check(fetches, want, simulation::plan_run(v, nullptr).result, !several);
      for (int run = 0; run < 5; ++run) check(fetches, want, simulation::plan_run(v, &random).result, !several);
      check_parts(fetches, want, v, random);
      o.wide = false;
      const fg::plan_data tight = fg::passes::plan(model, s, {devices, several ? 3 : 1}, o);
      REQUIRE(fg::verify(tight.view()).why == fg::problem::none);
      const fg::binding batch{"batch", 16};
      CHECK(fg::peak_bytes(v, {&batch, 1}) <= 2 * fg::peak_bytes(tight.view(), {&batch, 1}));
      wide += !std::equal(p.operands.begin(), p.operands.end(), tight.operands.begin(),
                          [](const fg::operand& a, const fg::operand& b) { return a.index == b.index; });
    }
  }
  CHECK(wide >= 10);
}
