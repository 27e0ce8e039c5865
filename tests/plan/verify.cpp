// A plan that the passes made is sound, and each thing that may be wrong with one that came from elsewhere is found.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/plan/verify.hpp>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};

// Fused and in-place instructions, a literal, a loop with its gradient, a branch, two devices of one task and one of
// another.
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto w = g.variable<float, 4, 4>("w", fg::init::constant(0.5));
  auto h = tanh(matmul(x, w) * 2.0f + g.constant<float, 4>({1, 2, 3, 4}));
  auto sum = fg::fold([](auto s, auto row) { return sin(s + reduce_sum(row)); }, g.constant<float>(0), h);
  auto on = g.device("/cpu:1");
  auto y = cond(
      greater(sum, g.constant<float>(0)), [&] { return sum * 2.0f; }, [&] { return sum - 1.0f; });
  g.name("y", y);
  g.name("train", fg::adam(0.1).minimize(y));
  auto far = g.device("/job:ps");
  g.name("far", y * 2.0f);
});

constexpr fg::plan_data make() {
  const fg::graph_view m = model.view();
  const int fetches[] = {m.find("y"), m.find("train"), m.find("far")}, feeds[] = {m.find("x")};
  const std::string_view devices[] = {"/cpu:0", "/cpu:1", "/job:ps/cpu:0"};
  return fg::passes::plan(m, {{fetches, 3}, {feeds, 1}}, {devices, 3});
}
static_assert(fg::verify(make().view()).why == fg::problem::none);

fg::problem after(const std::function<void(fg::plan_data&)>& change) {
  fg::plan_data p = make();
  change(p);
  return fg::verify(p.view()).why;
}

}  // namespace

TEST_CASE("a plan with one thing wrong is refused") {
  using changer = std::function<void(fg::plan_data&)>;
  const auto some = [](fg::plan_data& p, const auto& which) -> fg::instruction& {
    for (fg::instruction& x : p.instructions)
      if (which(x)) return x;
    FAIL("the model has no such instruction");
    return p.instructions[0];
  };
  const auto region = [](fg::plan_data& p) -> fg::plan_region& {
    for (fg::plan_region& r : p.regions)
      if (r.owner >= 0 && r.count > 0) return r;
    FAIL("the model has no region");
    return p.regions[0];
  };
  const auto any = [](const fg::instruction&) { return true; };
  const auto channel = [](fg::plan_data& p, const auto& which) -> fg::channel& {
    for (fg::channel& c : p.channels)
      if (which(c)) return c;
    FAIL("the model has no such channel");
    return p.channels[0];
  };
  const auto shared = [](const fg::channel& c) { return c.shared; };
  const auto copied = [](const fg::channel& c) { return !c.shared && c.slot >= 0; };
  const std::vector<std::pair<std::string, changer>> changes{
      {"operands outside", [&](fg::plan_data& p) { some(p, any).operands = p.operands.size(); }},
      {"operands that overflow", [&](fg::plan_data& p) { some(p, any).n_operands = 2147483647; }},
      {"a negative place", [&](fg::plan_data& p) { some(p, any).operands = -1; }},
      {"attributes outside", [&](fg::plan_data& p) { some(p, any).attrs = p.words.size() + 1; }},
      {"no such device", [&](fg::plan_data& p) { some(p, any).device = 3; }},
      {"no such region", [&](fg::plan_data& p) { some(p, any).region = p.regions.size(); }},
      {"no such program", [&](fg::plan_data& p) { some(p, any).program = p.programs.size(); }},
      {"no operand to take over", [&](fg::plan_data& p) { some(p, any).in_place = 100; }},
      {"regions outside",
       [&](fg::plan_data& p) { some(p, [](const auto& x) { return x.n_regions > 0; }).n_regions = 1000; }},
      {"a region behind its owner", [&](fg::plan_data& p) { region(p).first = region(p).owner + 1; }},
      {"an entry behind its region", [&](fg::plan_data& p) { region(p).entry = region(p).owner; }},
      {"an edge backwards",
       [&](fg::plan_data& p) {
         p.successors[some(p, [](const auto& x) { return x.n_successors > 0; }).successors] = 0;
       }},
      {"an edge too many",
       [&](fg::plan_data& p) { ++some(p, [](const auto& x) { return x.predecessors > 0; }).predecessors; }},
      {"no such slot", [&](fg::plan_data& p) { p.operands[0].where = fg::storage::slot, p.operands[0].index = 9999; }},
      {"no such variable",
       [&](fg::plan_data& p) { p.operands[0].where = fg::storage::variable, p.operands[0].index = -1; }},
      {"no such storage", [&](fg::plan_data& p) { p.operands[0].where = static_cast<fg::storage>(77); }},
      {"no such shape", [&](fg::plan_data& p) { p.operands[0].shape = p.shapes.size(); }},
      {"a value that nobody wrote",
       [&](fg::plan_data& p) {
         fg::slot unused = p.slots[0];
         const int at = p.slots.push(unused);
         p.operands[0].where = fg::storage::slot;
         p.operands[0].index = at;
       }},
      {"extents outside", [&](fg::plan_data& p) { p.shapes[p.shapes.size() - 1].dims = p.dims.size() + 1; }},
      {"no such symbol", [&](fg::plan_data& p) { p.dims[0] = -1 - p.symbols.size(); }},
      {"text outside", [&](fg::plan_data& p) { p.symbols[0].length = 100000; }},
      {"a slot of negative size", [&](fg::plan_data& p) { p.slots[0].bytes = -8; }},
      {"a literal outside", [&](fg::plan_data& p) { p.literals[0].n_words = p.words.size() + 1; }},
      {"a step that reads a later one", [&](fg::plan_data& p) { p.registers[p.steps[0].inputs] = 5; }},
      {"a step that reads an operand that is not there",
       [&](fg::plan_data& p) { p.registers[p.steps[0].inputs] = -99; }},
      {"registers outside", [&](fg::plan_data& p) { p.steps[0].inputs = p.registers.size(); }},
      {"a channel to nowhere", [&](fg::plan_data& p) { channel(p, shared).to = 7; }},
      {"a channel that begins at no send", [&](fg::plan_data& p) { ++channel(p, copied).send; }},
      {"a channel that ends before it begins",
       [&](fg::plan_data& p) { std::swap(channel(p, shared).send, channel(p, shared).receive); }},
      {"a channel with one end", [&](fg::plan_data& p) { --p.channels.count; }},
      {"a send into another channel",
       [&](fg::plan_data& p) { ++p.words[p.instructions[channel(p, shared).send].attrs]; }},
      {"a channel that ends at a third device", [&](fg::plan_data& p) { channel(p, copied).to = 0; }},
      {"news with a value", [&](fg::plan_data& p) { channel(p, copied).slot = -1; }},
      {"a value that arrives elsewhere", [&](fg::plan_data& p) { channel(p, copied).slot = p.slots.size(); }},
      {"two values that arrive in one place",
       [&](fg::plan_data& p) { channel(p, shared).slot = channel(p, copied).slot; }},
      {"a slot without room for turns",
       [&](fg::plan_data& p) { p.slots[channel(p, copied).slot].parts = 3 - p.slots[channel(p, copied).slot].parts; }},
      {"what is shared is overwritten",
       [&](fg::plan_data& p) {
         const int slot = channel(p, shared).slot;
         for (fg::instruction& x : p.instructions)
           if (x.op->name != "recv" && x.n_outputs > 0 && x.region == 0)
             p.operands[x.operands + x.n_operands].index = slot;
       }},
      {"a fetch of nothing", [&](fg::plan_data& p) { p.fetches[0].where = fg::storage::feed, p.fetches[0].index = 3; }},
  };
  CHECK(after([](fg::plan_data&) {}) == fg::problem::none);
  for (const auto& [what, change] : changes) {
    CAPTURE(what);
    CHECK(after(change) == fg::problem::invalid_plan);
  }
}
