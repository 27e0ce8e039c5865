// What prune keeps, what it makes of feeds, and what it complains about.
#include <doctest/doctest.h>

#include <flowgraph/graph/verify.hpp>
#include <flowgraph/passes/prune.hpp>
#include "regions.hpp"

namespace fg = flowgraph;
using fg::passes::draft;
using test_ops::constant;
using test_ops::placeholder;
using test_ops::shape;
using test_ops::variable;

namespace {

constexpr draft pruned(const fg::graph_data& g, int fetch, int feed = -1) {
  return fg::passes::prune(g.view(), {{&fetch, 1}, {&feed, feed < 0 ? 0 : 1}});
}
constexpr bool well_formed(const draft& d) { return fg::verify(d.graph.view()).why == fg::problem::none; }
constexpr bool is(const draft& d, int id, const fg::op_def& op) { return d.graph.nodes[id].op->id == op.id; }

// Only the path from x to the fetch stays, in order.
constexpr bool keeps_what_is_needed() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4)), unused = placeholder(g, shape(4));
  const fg::ref a = -x;
  fg::emit<fg::ops::add>(a, unused);
  const fg::ref b = a * a;
  const draft d = pruned(g, b.id, x.id);
  return well_formed(d) && d.fault.why == fg::problem::none && d.graph.size() == 3 && d.fetches[0] == 2 &&
         d.feeds[0] == 0 && d.model[1] == a.id && d.model[2] == b.id && d.graph.inputs(2)[0] == 1;
}
static_assert(keeps_what_is_needed());

// Placeholders that count as fed hide no mistake.
constexpr bool unfed_hides_nothing() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4)), unused = placeholder(g, shape(4));
  const int fetch = (-x).id, feed = unused.id;
  const draft right = fg::passes::prune(g.view(), {{&fetch, 1}, {}}, true);
  const draft wrong = fg::passes::prune(g.view(), {{&fetch, 1}, {&feed, 1}}, true);
  return right.fault.why == fg::problem::none && right.feeds.count == 1 &&
         wrong.fault.why == fg::problem::fed_in_vain && wrong.fault.node == unused.id;
}
static_assert(unfed_hides_nothing());

// Any value may be fed: what it was computed from is not needed any more.
constexpr bool feeds_any_value() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4));
  const fg::ref a = -x;
  const draft d = pruned(g, (a * a).id, a.id);
  return well_formed(d) && d.fault.why == fg::problem::none && d.graph.size() == 2 &&
         is(d, 0, fg::op_def_of<fg::ops::placeholder>) && d.model[0] == a.id && d.graph.nodes[0].shape != 0;
}
static_assert(feeds_any_value());

constexpr bool fetches_what_is_fed() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4));
  const draft d = pruned(g, x.id, x.id);
  return d.fault.why == fg::problem::none && d.graph.size() == 1 && d.fetches[0] == 0;
}
static_assert(fetches_what_is_fed());

constexpr bool keeps_controls() {
  fg::graph_data g;
  const fg::ref w = variable(g, shape(4));
  const fg::ref u = fg::emit<fg::ops::assign>(w, w);
  g.push_control(u.id);
  const fg::ref y = fg::emit<fg::ops::identity>(w);
  g.pop_controls(1);
  const draft d = pruned(g, y.id);
  return well_formed(d) && d.graph.size() == 3 && d.graph.view().controls(2)[0] == 1;
}
static_assert(keeps_controls());

// A node with several results keeps them all, next to it; one that is fed is there twice.
constexpr int several(bool feed_one) {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4));
  const int both = fg::emit<test_ops::halves>(x).id;
  const fg::ref y = fg::ref{&g, both + 1} + fg::ref{&g, both + 2};
  const int fetch = y.id, feeds[] = {x.id, both + 2};
  const draft d = fg::passes::prune(g.view(), {{&fetch, 1}, {feeds, feed_one ? 2 : 1}});
  return well_formed(d) && d.fault.why == fg::problem::none ? d.graph.size() : -1;
}
static_assert(several(false) == 5);
static_assert(several(true) == 6);

// Regions are kept with what their results need; those of dead owners are empty.
constexpr bool keeps_regions() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4)), y = placeholder(g, shape(4));
  test_ops::choice(
      x, [&] { return y; }, [&] { return x; });
  const fg::ref owner = test_ops::choice(
      x, [&] { return -x; },
      [&] {
        fg::emit<fg::ops::exp>(y);  // nobody needs it
        return x + y;
      });
  const int fetch = owner.id, feeds[] = {x.id, y.id};
  const draft d = fg::passes::prune(g.view(), {{&fetch, 1}, {feeds, 2}});
  const fg::graph_view v = d.graph.view();
  return well_formed(d) && v.size() == 2 + 2 + 3 + 1 && v.regions[1].owner == -1 && v.regions[3].owner == 7 &&
         v.nodes[7].first_region == 3 && v.results(4)[0] == 6;
}
static_assert(keeps_regions());

constexpr fg::plan_fault fault_of(int what) {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4)), y = placeholder(g, shape(4)), w = variable(g, shape(4));
  const fg::ref z = x + w, u = fg::emit<fg::ops::assign>(w, z);
  const int x_x[] = {x.id, x.id}, x_y[] = {x.id, y.id}, u_x[] = {u.id, x.id};
  switch (what) {
    case 0:
      return fg::passes::prune(g.view(), {{&z.id, 1}, {}}).fault;
    case 1:
      return fg::passes::prune(g.view(), {{&z.id, 1}, {x_y, 2}}).fault;
    case 2:
      return fg::passes::prune(g.view(), {{&z.id, 1}, {x_x, 2}}).fault;
    case 3:
      return fg::passes::prune(g.view(), {{&u.id, 1}, {u_x, 2}}).fault;
    default:
      return fg::passes::prune(g.view(), {{}, {}}).fault;
  }
}
static_assert(fault_of(0).why == fg::problem::not_fed && fault_of(0).node == 0);
static_assert(fault_of(1).why == fg::problem::fed_in_vain && fault_of(1).node == 1);
static_assert(fault_of(2).why == fg::problem::fed_twice && fault_of(2).node == 0);
static_assert(fault_of(3).why == fg::problem::operation_fed && fault_of(3).node == 4);
static_assert(fault_of(4).why == fg::problem::nothing_fetched);

// For facts about a model, placeholders that nobody feeds count as fed.
constexpr bool allows_unfed() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4)), y = placeholder(g, shape(4));
  const fg::ref z = x + y;
  const draft d = fg::passes::prune(g.view(), {{&z.id, 1}, {&y.id, 1}}, true);
  return d.fault.why == fg::problem::none && d.feeds.size() == 2 && d.model[d.feeds[0]] == y.id &&
         d.model[d.feeds[1]] == x.id;
}
static_assert(allows_unfed());

// An optimizer's update stands behind a read that is written later, and before one that waits for it; the order of what
// is marked, and of what depends on it, stays. Where nothing else is behind it, nothing moves.
constexpr bool postpones_updates() {
  fg::graph_data g;
  const fg::ref x = placeholder(g, shape(4)), v = variable(g, shape(4));
  const fg::ref first = v * x;
  g.at_end = true;
  const fg::ref step = v + x, update = fg::emit<fg::ops::assign>(v, step);
  g.at_end = false;
  const fg::ref late = v - x;
  g.push_control(update.id);
  const fg::ref behind = v * v;
  g.pop_controls(1);
  const int all[] = {first.id, update.id, late.id, behind.id};
  const draft d = fg::passes::prune(g.view(), {{all, 4}, {&x.id, 1}});
  const int expected[] = {x.id, v.id, first.id, late.id, step.id, update.id, behind.id};
  bool right = well_formed(d) && d.graph.size() == 7;
  for (int i = 0; i < 7 && right; ++i) right = d.model[i] == expected[i];
  const draft plain = fg::passes::prune(g.view(), {{all, 2}, {&x.id, 1}});
  for (int i = 0; i < 5; ++i) right = right && plain.model[i] == i;
  return right && plain.graph.size() == 5;
}
static_assert(postpones_updates());

}  // namespace

TEST_CASE("prune does at run time what it does for the compiler") {
  CHECK(keeps_what_is_needed());
  CHECK(feeds_any_value());
  CHECK(keeps_controls());
  CHECK(keeps_regions());
  CHECK(several(true) == 6);
  CHECK(allows_unfed());
  CHECK(postpones_updates());
}
