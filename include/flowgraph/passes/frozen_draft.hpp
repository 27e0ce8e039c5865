// What passes hand to each other as arrays, so that planning a constexpr model can stop and go on: compilers allow
// each constant expression a number of steps, and a few thousand nodes need more than one allowance.
#pragma once
#include <flowgraph/plan/frozen_plan.hpp>
#include "pipeline.hpp"

namespace flowgraph::passes {

struct draft_counts {
  int nodes = 0, edges = 0, words = 0, shapes = 0, dims = 0, symbols = 0, symbol_chars = 0, regions = 0, fetches = 0,
      feeds = 0;
};

constexpr draft_counts counts_of(const draft_view& d) {
  const graph_view& g = d.graph;
  return {g.nodes.count,          g.edges.count,        g.words.count,   g.shapes.count,  g.dims.count,
          g.symbol_entries.count, g.symbol_chars.count, g.regions.count, d.fetches.count, d.feeds.count};
}

constexpr bool fits(const draft_counts& c, const draft_counts& room) {
  return c.nodes <= room.nodes && c.edges <= room.edges && c.words <= room.words && c.shapes <= room.shapes &&
         c.dims <= room.dims && c.symbols <= room.symbols && c.symbol_chars <= room.symbol_chars &&
         c.regions <= room.regions && c.fetches <= room.fetches && c.feeds <= room.feeds;
}

// Enough for nearly every model, so that it is optimised once and not first counted and then optimised again. Passes
// take away more than they add.
constexpr draft_counts room_for(const graph_view& model, int fetches, int feeds) {
  return {.nodes = model.nodes.count + 32,
          .edges = model.edges.count + 64,
          .words = model.words.count + 64,
          .shapes = model.shapes.count + 32,
          .dims = model.dims.count + 64,
          .symbols = model.symbol_entries.count + 8,
          .symbol_chars = model.symbol_chars.count + 96,
          .regions = model.regions.count + 1,
          .fetches = fetches,
          .feeds = feeds};
}

// Models of more nodes are swept in an evaluation of its own.
inline constexpr int most_optimised_at_once = 9000;

// At most Room; how much is used is in counts. Where Room was too small it holds only counts.
template <draft_counts Room>
struct frozen_draft {
  node nodes[Room.nodes + 1]{};
  int model[Room.nodes + 1]{};
  int edges[Room.edges + 1]{};
  std::int64_t words[Room.words + 1]{};
  shape_entry shapes[Room.shapes + 1]{};
  extent dims[Room.dims + 1]{};
  symbol symbols[Room.symbols + 1]{};
  char symbol_chars[Room.symbol_chars + 1]{};
  region regions[Room.regions + 1]{};
  int fetches[Room.fetches + 1]{};
  int feeds[Room.feeds + 1]{};
  draft_counts counts;
  plan_fault fault;
  bool complete = false;

  constexpr draft_view view() const {
    graph_view g;
    g.nodes = {nodes, counts.nodes};
    g.edges = {edges, counts.edges};
    g.words = {words, counts.words};
    g.shapes = {shapes, counts.shapes};
    g.dims = {dims, counts.dims};
    g.symbol_entries = {symbols, counts.symbols};
    g.symbol_chars = {symbol_chars, counts.symbol_chars};
    g.regions = {regions, counts.regions};
    return {g, {model, counts.nodes}, {fetches, counts.fetches}, {feeds, counts.feeds}};
  }
};

template <draft_counts Room>
constexpr frozen_draft<Room> freeze(const draft_view& d, const plan_fault& fault) {
  frozen_draft<Room> f;
  f.counts = counts_of(d);
  f.fault = fault;
  f.complete = fits(f.counts, Room);
  if (!f.complete) return f;
  const graph_view& g = d.graph;
  flowgraph::detail::copy_rows(f.nodes, g.nodes);
  flowgraph::detail::copy_rows(f.model, d.model);
  flowgraph::detail::copy_rows(f.edges, g.edges);
  flowgraph::detail::copy_rows(f.words, g.words);
  flowgraph::detail::copy_rows(f.shapes, g.shapes);
  flowgraph::detail::copy_rows(f.dims, g.dims);
  flowgraph::detail::copy_rows(f.symbols, g.symbol_entries);
  flowgraph::detail::copy_rows(f.symbol_chars, g.symbol_chars);
  flowgraph::detail::copy_rows(f.regions, g.regions);
  flowgraph::detail::copy_rows(f.fetches, d.fetches);
  flowgraph::detail::copy_rows(f.feeds, d.feeds);
  return f;
}

// What several devices run, and where: the draft's graph, or the one that it was cut into.
template <draft_counts Room>
struct frozen_distribution : frozen_draft<Room> {
  int device[Room.nodes + 1]{};
};

template <draft_counts Room>
constexpr frozen_distribution<Room> freeze(const draft_view& whole, const distribution& on) {
  frozen_distribution<Room> f{freeze<Room>(on.cut.graph.size() == 0 ? whole : on.cut.view(), on.fault)};
  if (f.complete) flowgraph::detail::copy_rows(f.device, static_cast<flowgraph::detail::slice<int>>(on.device));
  return f;
}

// Enough for nearly every graph that devices share: a channel, which is two nodes, for every fourth node.
constexpr draft_counts room_for_cut(draft_counts c) {
  const int channels = c.nodes / 4 + 32;
  c.nodes += 2 * channels;
  c.edges += 2 * channels;
  c.words += 4 * channels;
  return c;
}

template <int Nodes, int Regions>
struct frozen_arrangement {
  int group_of[Nodes + 1]{};
  int next[Nodes + 1]{};
  fusion::group groups[Nodes + 2]{};
  int sequence[Nodes + 2 * Regions + 1]{};
  int n_groups = 0;
  int n_sequence = 0;
  bool complete = true;  // always: Nodes and Regions are room enough

  constexpr fusion together() const {
    fusion f;
    f.of = flowgraph::detail::vec<int>(flowgraph::detail::slice<int>{group_of, Nodes});
    f.next = flowgraph::detail::vec<int>(flowgraph::detail::slice<int>{next, Nodes});
    f.groups = flowgraph::detail::vec<fusion::group>(flowgraph::detail::slice<fusion::group>{groups, n_groups});
    return f;
  }
};

template <int Nodes, int Regions>
constexpr frozen_arrangement<Nodes, Regions> freeze(const arrangement& a) {
  frozen_arrangement<Nodes, Regions> f;
  f.n_groups = a.together.groups.count;
  f.n_sequence = a.sequence.count;
  flowgraph::detail::copy_rows(f.group_of, static_cast<flowgraph::detail::slice<int>>(a.together.of));
  flowgraph::detail::copy_rows(f.next, static_cast<flowgraph::detail::slice<int>>(a.together.next));
  flowgraph::detail::copy_rows(f.groups, static_cast<flowgraph::detail::slice<fusion::group>>(a.together.groups));
  flowgraph::detail::copy_rows(f.sequence, static_cast<flowgraph::detail::slice<int>>(a.sequence));
  return f;
}

// Enough for nearly every plan of a draft whose sequence is known: a step has no more operands than edges and
// outputs, and slots are shared.
constexpr plan_counts room_for_plan(const draft_view& d, int instructions, int groups,
                                    flowgraph::detail::slice<std::string_view> devices) {
  const draft_counts c = counts_of(d);
  int variables = 0, constants = 0, literals = 0, elementwise = 0;
  for (const node& n : d.graph.nodes) {
    const unsigned t = bits(n.op->traits);
    if (t & bits(trait::elementwise)) ++elementwise;
    if (!(t & bits(trait::source))) continue;
    if (n.op->id == ops::variable::id) ++variables;
    if (n.op->id == ops::constant::id) ++constants;
    if (n.op->id == ops::literal::id) ++literals;
  }
  int device_chars = 0;
  for (const std::string_view name : devices) device_chars += static_cast<int>(name.size());
  const int operands = c.edges + instructions + 2 * c.regions + 16;
  return {.instructions = instructions,
          .operands = operands,
          .words = c.words,
          .successors = 2 * operands,
          .slots = instructions / 4 + 64,
          .variables = variables,
          .feeds = c.feeds,
          .fetches = c.fetches,
          .constants = constants,
          .literals = literals,
          .programs = groups + elementwise + 1 > instructions ? instructions + 1 : groups + elementwise + 1,
          .steps = elementwise + 1,
          .registers = c.edges,
          .regions = c.regions,
          .shapes = c.shapes,
          .dims = c.dims,
          .symbols = c.symbols,
          .chars = c.symbol_chars + device_chars + 64,
          .devices = devices.count};
}

// Plans of more instructions are assembled in several evaluations: each pass is given an allowance of its own. Smaller
// ones need no copies between the passes.
inline constexpr int most_assembled_at_once = 3200;

// Instructions over values that have no memory yet, and who must wait for whom whatever the memory.
template <plan_counts Room>
struct frozen_lowered : roomy_plan<Room> {
  control controls[Room.successors + 1]{};
};

// Of a plan whose successors are not known yet, their counts are those of the controls.
template <plan_counts Room>
constexpr frozen_lowered<Room> freeze(const lowered& l) {
  frozen_lowered<Room> f;
  f.counts = l.plan.counts();
  f.counts.successors = l.controls.count;
  f.complete = fits(f.counts, Room);
  if (!f.complete) return f;
  fill(f.tables, l.plan.view());
  flowgraph::detail::copy_rows(f.controls, static_cast<flowgraph::detail::slice<control>>(l.controls));
  return f;
}

// The plan with tight memory, or where it is wide what that has come to.
template <plan_counts Room>
struct frozen_tight : roomy_plan<Room> {
  memory_budget budgets[Room.shapes * Room.devices + 1]{};
  int n_budgets = 0;
  bool wide = false;
};
template <plan_counts Room>
constexpr frozen_tight<Room> freeze(const plan_data& p, const tight_memory& tight) {
  frozen_tight<Room> f;
  f.counts = p.counts();
  f.complete = fits(f.counts, Room);
  if (f.complete && !tight.wide) fill(f.tables, p.view());
  f.n_budgets = tight.budgets.count;
  f.wide = tight.wide;
  flowgraph::detail::copy_rows(f.budgets, static_cast<flowgraph::detail::slice<memory_budget>>(tight.budgets));
  return f;
}

template <plan_counts Room>
struct frozen_wide : roomy_plan<Room> {
  bool affordable = false;
};

}  // namespace flowgraph::passes
