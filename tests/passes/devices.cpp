// place and partition: who goes where, and what is sent.
#include <doctest/doctest.h>

#include <flowgraph/graph/verify.hpp>
#include <flowgraph/passes/partition.hpp>
#include "regions.hpp"

namespace fg = flowgraph;
using fg::passes::draft;
using fg::passes::placement;
using test_ops::constant;
using test_ops::placeholder;
using test_ops::shape;
using test_ops::variable;

namespace {

constexpr std::string_view devices[] = {"/job:worker/task:0/cpu:0", "/job:worker/task:0/gpu:0",
                                        "/job:worker/task:0/gpu:1", "/job:ps/task:0/cpu:0", "/job:ps/task:1/cpu:0"};
constexpr fg::detail::slice<std::string_view> all{devices, 5};

// The device of a node that asks for this; -1: there is none.
constexpr int placed(std::string_view constraint) {
  fg::graph_data g;
  const fg::ref x = placeholder(g, {});
  if (!constraint.empty()) g.device = g.intern_text(constraint);
  const fg::ref y = -x;
  const draft d = fg::passes::prune(g.view(), {{&y.id, 1}, {&x.id, 1}});
  const placement p = fg::passes::place(d.view(), g.view(), all);
  if (p.fault.why != fg::problem::none) return p.fault.why == fg::problem::no_device && p.fault.node == y.id ? -1 : -2;
  return p.device[1];
}
static_assert(placed("") == 0);
static_assert(placed("/cpu:0") == 0);
static_assert(placed("/gpu:1") == 2);
static_assert(placed("/job:ps") == 3);
static_assert(placed("/job:ps/task:1") == 4);
static_assert(placed("/job:worker/task:0/gpu:0") == 1);
static_assert(placed("/gpu:2") == -1);
static_assert(placed("/job:ps/gpu:0") == -1);

// An update goes to its variable, whatever it asks for; nodes of a region to the owner unless they ask.
constexpr bool follows() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, {});
  g.device = g.intern_text("/job:ps");
  const fg::ref w = variable(g, {});
  g.device = g.intern_text("/gpu:0");
  const fg::ref u = fg::emit<fg::ops::assign>(w, x);
  fg::ref inside, pinned;
  const fg::ref c = test_ops::choice(
      x,
      [&] {
        g.device = 0;
        inside = -x;
        return inside;
      },
      [&] {
        g.device = g.intern_text("/gpu:1");
        pinned = -x;
        g.device = g.intern_text("/gpu:0");
        return pinned;
      });
  const int fetches[] = {u.id, c.id};
  const draft d = fg::passes::prune(g.view(), {{fetches, 2}, {&x.id, 1}});
  const placement p = fg::passes::place(d.view(), g.view(), all);
  int at[5] = {-1, -1, -1, -1, -1};
  for (int i = 0; i < d.graph.size(); ++i) {
    const int ids[] = {w.id, u.id, c.id, inside.id, pinned.id};
    for (int k = 0; k < 5; ++k)
      if (d.model[i] == ids[k]) at[k] = p.device[i];
  }
  return p.fault.why == fg::problem::none && at[0] == 3 && at[1] == 3 && at[2] == 1 && at[3] == 1 && at[4] == 2;
}
static_assert(follows());

// Where each of these nodes goes, and why, in the order in which they were made: "0 first, 1 asked". What was not
// fetched is not there.
template <class Build>
constexpr bool goes(const Build& build, std::initializer_list<int> where, std::initializer_list<fg::placed> because,
                    const fg::passes::placement_rules& rules = {}) {
  fg::graph_data g;
  const int fetch = build(g).id;
  const draft d = fg::passes::prune(g.view(), {{&fetch, 1}, {}}, true);
  const placement p = fg::passes::place(d.view(), g.view(), all, rules);
  if (p.fault.why != fg::problem::none || p.device.size() != static_cast<int>(where.size())) return false;
  int i = 0;
  for (const int k : where)
    if (p.device[i++] != k) return false;
  i = 0;
  for (const fg::placed k : because)
    if (p.why[i++] != k) return false;
  return true;
}
constexpr fg::ref on(fg::graph_data& g, std::string_view device, fg::ref x) {
  g.device = g.intern_text(device);
  const fg::ref y = -x;
  g.device = 0;
  return y;
}
using why = fg::placed;

// What asks for nothing goes where most bytes of its operands are, and to the first device without operands.
static_assert(goes(
    [](auto& g) {
      const fg::ref x = placeholder(g, shape(100)), small = placeholder(g, {});
      return on(g, "/gpu:0", x) * on(g, "/gpu:1", small) * constant(g, {}, 2);
    },
    {0, 0, 1, 2, 1, 0, 1}, {why::first, why::first, why::asked, why::asked, why::operands, why::first, why::operands}));
// A name counts as 32: sixteen numbers are less.
static_assert(goes(
    [](auto& g) {
      const fg::ref x = placeholder(g, shape(g.symbols.intern("batch"))), few = placeholder(g, shape(16));
      const fg::ref a = fg::emit<fg::ops::reduce_sum>({1, 0}, on(g, "/gpu:0", few));
      return a + fg::emit<fg::ops::reduce_sum>({1, 0}, on(g, "/gpu:1", x));
    },
    {0, 0, 1, 1, 2, 2, 1},
    {why::first, why::first, why::asked, why::operands, why::asked, why::operands, why::operands}));
// An operation goes where what it waits for is.
static_assert(goes(
    [](auto& g) {
      g.device = g.intern_text("/job:ps");
      const fg::ref w = variable(g, {});
      g.device = 0;
      const int u = fg::emit<fg::ops::assign>(w, placeholder(g, {})).id;
      return fg::ref{&g, fg::ops::append_group(g, &u, 1)};
    },
    {3, 0, 3, 3}, {why::asked, why::first, why::variable, why::operands}));
// Beside a variable, or where that would be if the step had it.
constexpr fg::ref beside(fg::graph_data& g, bool needed) {
  g.device = g.intern_text("/job:ps/task:1");
  const fg::ref w = variable(g, {});
  g.device = g.intern_text(fg::colocation(w.id).view());
  const fg::ref average = variable(g, {});
  g.device = g.intern_text(fg::colocation(average.id).view());
  const fg::ref y = -placeholder(g, {});
  g.device = 0;
  return needed ? y * w * average : y;
}
static_assert(goes([](auto& g) { return beside(g, false); }, {4, 4}, {why::beside, why::beside}));
static_assert(goes([](auto& g) { return beside(g, true); }, {4, 4, 4, 4, 4, 4},
                   {why::asked, why::beside, why::beside, why::beside, why::operands, why::operands}));

// A kind of device that computes three ops, of float: all else is for the CPU of its task.
constexpr fg::passes::capability gpu_list[] = {{fg::ops::variable::id, fg::passes::of_type(fg::dtype::float32)},
                                               {fg::ops::neg::id, fg::passes::of_type(fg::dtype::float32)},
                                               {fg::ops::assign_add::id, fg::passes::of_type(fg::dtype::float32)}};
constexpr fg::passes::device_kind gpu{"gpu", {gpu_list, 3}};
constexpr fg::passes::placement_rules with_gpu{.kinds = {&gpu, 1}};
static_assert(goes(
    [](auto& g) {
      g.device = g.intern_text("/gpu:1");
      return fg::emit<fg::ops::exp>(-placeholder(g, {}));
    },
    {0, 2, 0}, {why::host, why::asked, why::host}, with_gpu));
static_assert(goes(
    [](auto& g) {
      g.device = g.intern_text("/gpu:1");
      return -placeholder(g, {}, fg::dtype::int32);
    },
    {0, 0}, {why::host, why::host}, with_gpu));
// A variable is where all its updates are computed.
constexpr fg::ref updated(fg::graph_data& g, bool known) {
  g.device = g.intern_text("/gpu:0");
  const fg::ref w = variable(g, {});
  return known ? fg::emit<fg::ops::assign_add>(w, -w) : fg::emit<fg::ops::assign>(w, -w);
}
static_assert(goes([](auto& g) { return updated(g, true); }, {1, 1, 1}, {why::asked, why::asked, why::variable},
                   with_gpu));
static_assert(goes([](auto& g) { return updated(g, false); }, {0, 1, 0}, {why::host, why::asked, why::variable},
                   with_gpu));

// Softly: as if it asked for nothing.
static_assert(goes([](auto& g) { return -on(g, "/gpu:7", on(g, "/gpu:1", placeholder(g, {}))); }, {0, 2, 2, 2},
                   {why::first, why::asked, why::softly, why::operands}, {.softly = true}));

// Counts what partition adds; -1 where the result is not well-formed or an edge still crosses devices.
struct cuts {
  int sends = 0, recvs = 0, nodes = 0;
  constexpr bool operator==(const cuts&) const = default;
};
template <class Build>
constexpr cuts cut(const Build& build) {
  fg::graph_data g;
  const int fetch = build(g).id;
  const draft d = fg::passes::prune(g.view(), {{&fetch, 1}, {}}, true);
  placement p = fg::passes::place(d.view(), g.view(), all);
  draft result;
  if (!fg::passes::partition(d.view(), p, result)) return {0, 0, d.graph.size()};
  const fg::graph_view v = result.graph.view();
  if (fg::verify(v).why != fg::problem::none || p.device.size() != v.size() || result.model.size() != v.size())
    return {-1, -1, -1};
  cuts c{0, 0, v.size()};
  for (int i = 0; i < v.size(); ++i) {
    c.sends += v.nodes[i].op->id == fg::ops::send::id;
    c.recvs += v.nodes[i].op->id == fg::ops::recv::id;
    for (const int e : v.inputs(i))
      if (p.device[e] != p.device[i]) return {-1, i, e};
    for (const int e : v.controls(i))
      if (p.device[e] != p.device[i]) return {-1, i, e};
  }
  for (int r = 1; r < v.regions.size(); ++r)
    for (const int e : v.results(r))
      if (p.device[e] != p.device[v.regions[r].owner]) return {-2, r, e};
  return c;
}
static_assert(cut([](auto& g) { return -placeholder(g, {}); }) == cuts{0, 0, 2});
static_assert(cut([](auto& g) { return on(g, "/gpu:0", placeholder(g, {})); }) == cuts{1, 1, 4});
// One pair for each value and destination.
static_assert(cut([](auto& g) {
                const fg::ref x = placeholder(g, {});
                return on(g, "/gpu:0", x) * on(g, "/gpu:0", x) * on(g, "/gpu:1", x);
              }) == cuts{2 + 1, 2 + 1, 1 + 3 + 2 + 6});  // the products are where two of three operands are
// Constants are copied.
static_assert(cut([](auto& g) { return on(g, "/gpu:0", constant(g, {}, 1)) * placeholder(g, {}); }) == cuts{1, 1, 7});
// A variable is sent again after it changed.
static_assert(cut([](auto& g) {
                const fg::ref w = variable(g, {}), before = on(g, "/gpu:0", w) * on(g, "/gpu:0", w);
                const fg::ref u = fg::emit<fg::ops::assign>(w, w);
                g.push_control(u.id);
                const fg::ref after = on(g, "/gpu:0", w);
                g.pop_controls(1);
                return before * after;
              }).sends == 3);  // w twice, and the news of the update
// A control edge is news without a value.
static_assert(cut([](auto& g) {
                const fg::ref x = placeholder(g, {}), n = fg::emit<test_ops::note>(x);
                g.push_control(n.id);
                const fg::ref y = on(g, "/gpu:0", constant(g, {}, 1));
                g.pop_controls(1);
                return y;
              }) == cuts{1, 1, 7});
// So are several of one device, in one message; what has come as a value is no news.
static_assert(cut([](auto& g) {
                const fg::ref x = placeholder(g, {});
                const int notes[] = {fg::emit<test_ops::note>(x).id, fg::emit<test_ops::note>(x).id, (-x).id};
                for (const int n : notes) g.push_control(n);
                const fg::ref y = on(g, "/gpu:0", fg::ref{&g, notes[2]}), z = on(g, "/gpu:0", y);
                g.pop_controls(3);
                return z;
              }).sends == 2);
// A choice that spans devices is one on each; what enters a part is brought there before.
static_assert(cut([](auto& g) {
                const fg::ref x = placeholder(g, {});
                g.device = g.intern_text("/gpu:0");
                return test_ops::choice(
                    x, [&] { return on(g, "/gpu:1", x); },
                    [&] {
                      g.device = g.intern_text("/gpu:0");
                      return x;
                    });
              }).sends == 3);  // x, by which they choose as well, to both; the result back
// In every turn a loop tells the other device whether there is another one.
static_assert(cut([](auto& g) {
                const fg::ref x = placeholder(g, {});
                return test_ops::loop(
                    x, [](fg::ref s) { return s; },
                    [&](fg::ref s) {
                      g.device = g.intern_text("/cpu:0");
                      return -on(g, "/gpu:1", s);
                    });
              }).sends == 3);  // the condition and the state to the other device, the next state back
// One that computes elsewhere runs there.
static_assert(cut([](auto& g) {
                const fg::ref x = placeholder(g, {});
                return test_ops::loop(
                    x, [](fg::ref s) { return s; }, [&](fg::ref s) { return on(g, "/gpu:1", s); });
              }).sends == 1);

}  // namespace

TEST_CASE("devices do at run time what they do for the compiler") {
  CHECK(placed("/job:ps/task:1") == 4);
  CHECK(placed("/gpu:2") == -1);
  CHECK(follows());
  CHECK(cut([](auto& g) { return on(g, "/gpu:0", placeholder(g, {})); }) == cuts{1, 1, 4});
}
