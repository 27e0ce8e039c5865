// fuse, order, memory and dependencies, on small graphs whose plans can be said in advance. What random graphs do is in
// random_graphs.cpp.
#include <doctest/doctest.h>

#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/plan/bind.hpp>
#include "regions.hpp"

namespace fg = flowgraph;
using test_ops::constant;
using test_ops::placeholder;
using test_ops::shape;
using test_ops::variable;

namespace {

constexpr std::string_view device = "/cpu:0";

// build(g) gives what to fetch.
template <class Build>
constexpr fg::plan_data planned(const Build& build, const fg::passes::options& o = {.allow_unfed = true}) {
  fg::graph_data g;
  const int fetch = build(g).id;
  return fg::passes::plan(g.view(), {{&fetch, 1}, {}}, {&device, 1}, o);
}
template <class Build>
constexpr int instructions(const Build& build) {
  return planned(build).instructions.size();
}
// Steps of the last instruction; 1: not fused.
template <class Build>
constexpr int steps(const Build& build) {
  const fg::plan_data p = planned(build);
  const int program = p.instructions.back().program;
  return program == 0 ? 1 : p.programs[program].n_steps;
}

constexpr fg::ref product(fg::ref x, fg::ref w) {
  return fg::emit<fg::ops::matmul>(fg::ops::matmul::attrs{0, 0}, x, w);
}

// fuse ------------------------------------------------------------------------------------------------------------

static_assert(steps([](auto& g) { return -placeholder(g, shape(4)); }) == 1);
static_assert(steps([](auto& g) { return fg::emit<fg::ops::exp>(-placeholder(g, shape(4))); }) == 2);
// Scalars, rows and constants are operands of a larger result.
static_assert(steps([](auto& g) {
                const fg::ref x = placeholder(g, shape(4, 4)), row = placeholder(g, shape(4)), s = placeholder(g, {});
                return (x + row) * s * constant(g, {}, 2) - x;
              }) == 4);
// What has another shape is computed on its own.
static_assert(steps([](auto& g) { return placeholder(g, shape(4, 4)) + -placeholder(g, shape(4)); }) == 1);
// A value that is read twice within the group stays inside; one that is read elsewhere does not.
static_assert(steps([](auto& g) {
                const fg::ref y = -placeholder(g, shape(4));
                return y * y + y;
              }) == 3);
static_assert(instructions([](auto& g) {
                const fg::ref y = -placeholder(g, shape(4));
                return fg::emit<fg::ops::exp>(y) + fg::emit<fg::ops::reduce_sum>({1, 0}, y);
              }) == 3);
// A long chain is cut into programs of bounded length.
static_assert(instructions([](auto& g) {
                fg::ref y = placeholder(g, shape(4));
                for (int i = 0; i < fg::max_program_steps + 1; ++i) y = fg::emit<fg::ops::exp>(y);
                return y;
              }) == 2);
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    fg::ref y = placeholder(g, shape(4));
    for (int i = 0; i < 2 * fg::max_program_operands; ++i) y = y + placeholder(g, shape(4));
    return y;
  });
  for (const fg::instruction& x : p.instructions)
    if (x.n_operands > fg::max_program_operands) return false;
  return p.instructions.size() == 3;
}());
// A program is a value: registers are steps, or operands counted from -1 down.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4));
    return (x - placeholder(g, shape(4))) * x;
  });
  const fg::program_step* s = p.steps.data;
  return p.steps.size() == 2 && s[0].op->id == fg::ops::sub::id && s[1].op->id == fg::ops::mul::id &&
         p.registers[0] == -1 && p.registers[1] == -2 && p.registers[2] == 0 && p.registers[3] == -1 &&
         p.instructions[0].n_operands == 2;
}());
// In a region, and not across its border.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4));
    return -test_ops::choice(
        x, [&] { return fg::emit<fg::ops::exp>(-x); }, [&] { return x; });
  });
  return p.instructions.size() == 6 && p.instructions[1].region == 1 && p.instructions[1].program != 0 &&
         p.regions[1].count == 2 && p.regions[2].count == 1 && p.regions[1].owner == 4 && p.regions[2].entry == 0;
}());

// With an op beside them: what follows a product runs with it, on its result.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4, 4)), w = variable(g, shape(4, 4)), b = variable(g, shape(4));
    return fg::emit<fg::ops::relu>(product(x, w) + b) + x;
  });
  const fg::instruction& i = p.instructions[0];
  const fg::program& after = p.programs[i.program];
  return p.instructions.size() == 1 && i.op->id == fg::ops::matmul::id && i.n_operands == 3 && i.n_attrs == 2 &&
         after.role == fg::program_role::after && after.n_steps == 3 && after.own == 2 && after.value == 3 &&
         p.registers[0] == -1 - 3 && p.registers[1] == -1 - 2 && p.registers[2] == 0 && p.registers[3] == 1 &&
         p.registers[4] == -1;
}());
// ... but only one of two, not where its result has another reader or type, and not where what it reads changes first.
static_assert(instructions([](auto& g) {
                const fg::ref x = placeholder(g, shape(4, 4));
                return product(x, x) + product(x, -x);
              }) == 3);
static_assert(instructions([](auto& g) {
                const fg::ref x = placeholder(g, shape(4, 4)), y = product(x, x);
                return product(-y, y);
              }) == 3);
static_assert(instructions([](auto& g) {
                const fg::ref x = placeholder(g, shape(4, 4));
                return fg::emit<fg::ops::isnan>(product(x, x));
              }) == 2);
static_assert(instructions([](auto& g) {
                const fg::ref w = variable(g, shape(4, 4)), y = product(w, w);
                g.push_control(fg::emit<fg::ops::assign>(w, placeholder(g, shape(4, 4))).id);
                const fg::ref z = y + w;
                g.pop_controls(1);
                return z;
              }) == 3);
// What a reduction or an update reads runs with it.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4, 4)), row = placeholder(g, shape(4));
    return fg::emit<fg::ops::reduce_sum>({2, 0}, fg::emit<fg::ops::square>(x - row));
  });
  const fg::instruction& i = p.instructions[0];
  const fg::program& before = p.programs[i.program];
  const fg::operand* o = p.operands.data + i.operands;
  return p.instructions.size() == 1 && i.op->id == fg::ops::reduce_sum::id && i.n_operands == 3 && i.n_outputs == 1 &&
         before.role == fg::program_role::before && before.own == 1 && before.value == 0 && before.n_steps == 2 &&
         o[0].where == fg::storage::none && o[0].shape == o[1].shape && p.registers[0] == -2 && p.registers[1] == -3 &&
         p.slots.size() == 1;
}());
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref w = variable(g, shape(4));
    return fg::emit<fg::ops::assign_sub>(w, (w - placeholder(g, shape(4))) * 0.5);
  });
  const fg::instruction& i = p.instructions[0];
  return p.instructions.size() == 1 && i.op->id == fg::ops::assign_sub::id && i.n_operands == 4 && i.n_outputs == 0 &&
         p.programs[i.program].value == 1 && p.registers[0] == -1 && p.slots.size() == 0;
}());

// order -----------------------------------------------------------------------------------------------------------

// Updates run as soon as their operands are there, not where the optimizer wrote them.
constexpr bool updates_come_early() {
  const fg::plan_data p = planned([](fg::graph_data& g) {
    const fg::ref x = placeholder(g, shape(4, 4)), a = variable(g, shape(4, 4)), b = variable(g, shape(4, 4));
    const fg::ref ga = fg::emit<fg::ops::matmul>(fg::ops::matmul::attrs{1, 0}, x, x),
                  gb = fg::emit<fg::ops::matmul>(fg::ops::matmul::attrs{0, 1}, x, x);
    const fg::ref ua = fg::emit<fg::ops::assign_sub>(a, ga * 0.5), ub = fg::emit<fg::ops::assign_sub>(b, gb * 0.5);
    const int both[] = {ua.id, ub.id};
    return fg::ref{&g, fg::ops::append_group(g, both, 2)};
  });
  const std::uint64_t expected[] = {fg::ops::matmul::id, fg::ops::assign_sub::id, fg::ops::matmul::id,
                                    fg::ops::assign_sub::id, fg::ops::group::id};
  for (int i = 0; i < 5; ++i)
    if (p.instructions[i].op->id != expected[i]) return false;
  return p.instructions.size() == 5 && p.slots.size() == 1;  // so one gradient's memory serves both
}
static_assert(updates_come_early());

// Reads that were written before an update come before it, wherever the value is needed.
constexpr bool reads_keep_their_place() {
  const fg::plan_data p = planned([](fg::graph_data& g) {
    const fg::ref w = variable(g, shape(4)), s = fg::emit<fg::ops::reduce_sum>({1, 0}, w);
    g.push_control(fg::emit<fg::ops::assign>(w, placeholder(g, shape(4))).id);
    const fg::ref y = fg::emit<fg::ops::reduce_sum>({1, 0}, w) + s;
    g.pop_controls(1);
    return y;
  });
  return p.instructions.size() == 4 && p.instructions[0].op->id == fg::ops::reduce_sum::id &&
         p.instructions[1].op->id == fg::ops::assign::id && p.instructions[1].predecessors == 1 &&
         p.instructions[2].op->id == fg::ops::reduce_sum::id && p.instructions[2].predecessors == 1;
}
static_assert(reads_keep_their_place());

// memory ----------------------------------------------------------------------------------------------------------

template <class Build>
constexpr std::int64_t bytes(const Build& build, std::int64_t batch = 1) {
  const fg::plan_data p = planned(build);
  const fg::binding b{"batch", batch};
  return fg::peak_bytes(p.view(), {&b, 1});
}
// A chain of products needs two slots, however long it is.
static_assert(bytes(
                  [](auto& g) {
                    const fg::ref w = variable(g, shape(16, 16));
                    fg::ref y = placeholder(g, shape(g.symbols.intern("batch"), 16));
                    for (int i = 0; i < 9; ++i) y = product(y, w);
                    return y;
                  },
                  10) == 2 * 10 * 16 * 4);
// Element-wise work takes over its operand's slot.
static_assert(bytes([](auto& g) {
                const fg::ref w = variable(g, shape(16, 16));
                return fg::emit<fg::ops::exp>(product(placeholder(g, shape(16, 16)), w));
              }) == 16 * 16 * 4);
// ... unless somebody still reads it, or the shapes differ.
static_assert(bytes([](auto& g) {
                const fg::ref w = variable(g, shape(16, 16)), y = product(placeholder(g, shape(16, 16)), w);
                return product(fg::emit<fg::ops::exp>(y), y);
              }) == 3 * 16 * 16 * 4);
static_assert(bytes([](auto& g) {
                const fg::ref row = fg::emit<fg::ops::reduce_sum>({1, 0}, placeholder(g, shape(16, 16)));
                return row + placeholder(g, shape(16, 16));
              }) == 16 * 16 * 4 + 64);
// Views, feeds, variables and scalar constants need none; what is not a multiple of 64 bytes is rounded up.
static_assert(bytes([](auto& g) {
                return fg::emit_as<fg::ops::reshape>(shape(2, 2), fg::dtype::float32, variable(g, shape(4)));
              }) == 0);
static_assert(bytes([](auto& g) { return placeholder(g, shape(3)) + constant(g, {}, 1); }) == 64);
// A constant whose elements must be there gets them right before its reader.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref c = constant(g, shape(4, 4), 1), x = placeholder(g, shape(4, 4));
    return product(fg::emit<fg::ops::exp>(x), c) + c;
  });
  return p.instructions.size() == 3 && p.instructions[1].op->id == fg::ops::constant::id &&
         p.instructions[2].n_operands == 2 && p.operands[p.instructions[2].operands + 1].where == fg::storage::slot;
}());
// A free slot of nearly the right size is taken, and grows if it must.
static_assert(bytes([](auto& g) {
                const fg::ref x = placeholder(g, shape(16, 16));
                const fg::ref small = product(x, variable(g, shape(16, 8)));
                const fg::ref large = product(product(small, variable(g, shape(8, 16))), variable(g, shape(16, 32)));
                return large;
              }) == 16 * 32 * 4 + 16 * 16 * 4);
// Sizes are known when names are bound; they may be products.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::extent time = g.symbols.intern("time"), batch = g.symbols.intern("batch");
    return -placeholder(g, shape(time, batch));
  });
  const fg::binding b[] = {{"batch", 3}, {"time", 100}};
  const fg::memory_layout all = fg::bind(p.view(), {b, 2}), some = fg::bind(p.view(), {b, 1});
  return all.why == fg::problem::none && all.totals[0] == 1216 && all.offsets[0] == 0 &&
         some.why == fg::problem::extent_unknown && fg::peak_bytes(p.view(), {b, 1}) == -1;
}());
// A loop's variable lives where its result will be. Its next value is computed there, too, unless the present one is
// still needed.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4));
    return test_ops::loop(
        x, [](fg::ref s) { return fg::emit<fg::ops::exp>(s); }, [](fg::ref s) { return fg::emit<fg::ops::exp>(-s); });
  });
  const auto result = [&](int i) {
    return p.operands[p.instructions[i].operands + p.instructions[i].n_operands].index;
  };
  return p.instructions.size() == 6 && p.instructions[0].op->id == fg::ops::enter::id && p.regions[2].first == 3 &&
         p.regions[2].count == 2 && result(1) != result(0) && result(3) == result(0) &&
         p.instructions[3].in_place == 0 && result(4) == result(0) && p.fetches[0].index == result(0);
}());
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4, 4));
    return test_ops::loop(
        x, [](fg::ref s) { return s; }, [](fg::ref s) { return product(s, s); });
  });
  const auto result = [&](int i) {
    return p.operands[p.instructions[i].operands + p.instructions[i].n_operands].index;
  };
  return p.instructions.size() == 5 && result(2) != result(0) && result(3) == result(0);
}());

// dependencies ----------------------------------------------------------------------------------------------------

// Two branches wait for nothing but what they read.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4, 4)), w = variable(g, shape(4, 4));
    return product(product(x, w), product(w, x));
  });
  return p.instructions[0].predecessors == 0 && p.instructions[1].predecessors == 0 &&
         p.instructions[2].predecessors == 2 && p.instructions[0].n_successors == 1 && p.successors[0] == 2;
}());
// Who gets a slot waits for all who read its last value.
static_assert([] {
  const fg::plan_data p = planned([](auto& g) {
    const fg::ref x = placeholder(g, shape(4, 4)), w = variable(g, shape(4, 4));
    return product(product(product(x, w), w), w);
  });
  return p.slots.size() == 2 && p.instructions[2].predecessors == 1 && p.instructions[1].predecessors == 1;
}());
// Towers of products side by side, each with a weight of its own; their results are joined at the end, or one by one.
struct towers {
  int width = 0, depth = 0;
  bool at_the_end = true;
  constexpr fg::ref operator()(fg::graph_data& g) const {
    const fg::ref x = placeholder(g, shape(16, 16));
    fg::ref joined = x;
    fg::detail::vec<int> parts(width);
    for (int t = 0; t < width; ++t) {
      const fg::ref w = variable(g, shape(16, 16));
      fg::ref y = x;
      for (int i = 0; i < depth; ++i) y = product(y, w);
      joined = product(joined, y), parts[t] = y.id;
    }
    const std::int64_t axis = 0;
    if (!at_the_end) return joined;
    return {&g, fg::detail::append_inferred(g, fg::op_def_of<fg::ops::concat>, parts.data, width, &axis, 1)};
  }
};
// How many instructions one must see the end of, one after the other.
constexpr int longest_wait(const fg::plan_data& p) {
  fg::detail::vec<int> before(p.instructions.size());
  int longest = 0;
  for (int i = 0; i < p.instructions.size(); ++i) {
    longest = before[i] + 1 > longest ? before[i] + 1 : longest;
    for (const int next : p.view().next(p.instructions[i]))
      if (before[next] < before[i] + 1) before[next] = before[i] + 1;
  }
  return longest;
}
constexpr fg::passes::options tight{.wide = false, .allow_unfed = true};
// Towers wait for nothing but what they read, where that costs no more than twice the memory.
static_assert([] {
  const fg::plan_data p = planned(towers{8, 4}), narrow = planned(towers{8, 4}, tight);
  for (int i = 0; i < 32; ++i)
    if (p.instructions[i].predecessors != (i % 4 == 0 ? 0 : 1)) return false;
  return longest_wait(p) == 4 + 1 && longest_wait(narrow) == 8 * 4 + 1 && narrow.slots.size() == 8 + 1 &&
         p.slots.size() == 2 * 8;
}());
// Where it would cost more, as many run side by side as twice the memory allows.
static_assert([] {
  const fg::plan_data p = planned(towers{8, 4, false}), narrow = planned(towers{8, 4, false}, tight);
  return longest_wait(narrow) == 8 * 5 && 2 * longest_wait(p) < longest_wait(narrow) &&
         p.slots.size() <= 2 * narrow.slots.size();
}());
// One tower is not wide.
static_assert(planned(towers{1, 16}).slots.size() == planned(towers{1, 16}, tight).slots.size());
// Effects keep their order; an owner waits for what its regions wait for.
static_assert([] {
  const fg::plan_data p = planned([](fg::graph_data& g) {
    const fg::ref x = placeholder(g, {}), n = fg::emit<test_ops::note>(x);
    const fg::ref c = test_ops::choice(
        x, [&] { return fg::emit<test_ops::note>(x); }, [&] { return x; });
    return c + n;
  });
  return p.instructions.size() == 7 && p.instructions[5].n_regions == 2 && p.instructions[5].predecessors == 2 &&
         p.instructions[2].region == 1 && p.instructions[2].predecessors == 0;
}());

}  // namespace

TEST_CASE("schedules are the same at run time") {
  CHECK(updates_come_early());
  CHECK(reads_keep_their_place());
  CHECK(bytes([](auto& g) { return placeholder(g, shape(3)) + constant(g, {}, 1); }) == 64);
}
