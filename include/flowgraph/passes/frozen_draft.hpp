// What passes hand to each other as arrays, so that planning a constexpr model can stop and go on: compilers allow
// each constant expression a number of steps, and a few thousand nodes need more than one allowance.
#pragma once
#include <flowgraph/plan/frozen_plan.hpp>
#include "pipeline.hpp"

namespace flowgraph::passes {

// The tables of a draft: what a row is, the name, and which slice of a draft_view it is.
// clang-format off
#define FLOWGRAPH_DRAFT_TABLES(table) \
  table(node, nodes, graph.nodes)               \
  table(int, model, model)                      \
  table(int, edges, graph.edges)                \
  table(std::int64_t, words, graph.words)       \
  table(shape_entry, shapes, graph.shapes)      \
  table(extent, dims, graph.dims)               \
  table(symbol, symbols, graph.symbol_entries)  \
  table(char, symbol_chars, graph.symbol_chars) \
  table(region, regions, graph.regions)         \
  table(int, fetches, fetches)                  \
  table(int, feeds, feeds)
// clang-format on

struct draft_counts {
#define FLOWGRAPH_COUNT(row, name, from) int name = 0;
  FLOWGRAPH_DRAFT_TABLES(FLOWGRAPH_COUNT)
#undef FLOWGRAPH_COUNT
};

constexpr draft_counts counts_of(const draft_view& d) {
#define FLOWGRAPH_SIZE(row, name, from) .name = d.from.count,
  return {FLOWGRAPH_DRAFT_TABLES(FLOWGRAPH_SIZE)};
#undef FLOWGRAPH_SIZE
}

constexpr bool fits(const draft_counts& c, const draft_counts& room) {
#define FLOWGRAPH_FITS(row, name, from) &&c.name <= room.name
  return true FLOWGRAPH_DRAFT_TABLES(FLOWGRAPH_FITS);
#undef FLOWGRAPH_FITS
}

// Enough for nearly every model, so that it is optimised once and not first counted and then optimised again. Passes
// take away more than they add.
constexpr draft_counts room_for(const graph_view& model, int fetches, int feeds) {
  return {.nodes = model.nodes.count + 32,
          .model = model.nodes.count + 32,
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
#define FLOWGRAPH_ARRAY(row, name, from) row name[Room.name + 1]{};
  FLOWGRAPH_DRAFT_TABLES(FLOWGRAPH_ARRAY)
#undef FLOWGRAPH_ARRAY
  draft_counts counts;
  plan_fault fault;
  bool complete = false;

  constexpr draft_view view() const {
    draft_view d;
#define FLOWGRAPH_VIEW(row, name, from) d.from = {name, counts.name};
    FLOWGRAPH_DRAFT_TABLES(FLOWGRAPH_VIEW)
#undef FLOWGRAPH_VIEW
    return d;
  }
};

template <draft_counts Room>
constexpr frozen_draft<Room> freeze(const draft_view& d, const plan_fault& fault) {
  frozen_draft<Room> f;
  f.counts = counts_of(d);
  f.fault = fault;
  f.complete = fits(f.counts, Room);
  if (!f.complete) return f;
#define FLOWGRAPH_COPY(row, name, from) flowgraph::detail::copy_rows(f.name, d.from);
  FLOWGRAPH_DRAFT_TABLES(FLOWGRAPH_COPY)
#undef FLOWGRAPH_COPY
  return f;
}

// What several devices run, and where: the draft's graph, or the one that it was cut into.
template <draft_counts Room>
struct frozen_distribution : frozen_draft<Room> {
  int device[Room.nodes + 1]{};
  placed why[Room.nodes + 1]{};
  bool reasons = false;  // why nodes are where they are is known

  constexpr assignment on(flowgraph::detail::slice<std::string_view> names) const {
    return {{device, this->counts.nodes}, {why, reasons ? this->counts.nodes : 0}, names};
  }
};

template <draft_counts Room>
constexpr frozen_distribution<Room> freeze(const draft_view& whole, const distribution& on) {
  frozen_distribution<Room> f{freeze<Room>(on.cut.graph.size() == 0 ? whole : on.cut.view(), on.fault)};
  if (!f.complete) return f;
  flowgraph::detail::copy_rows(f.device, static_cast<flowgraph::detail::slice<int>>(on.device));
  flowgraph::detail::copy_rows(f.why, static_cast<flowgraph::detail::slice<placed>>(on.why));
  f.reasons = on.why.count != 0;
  return f;
}

// Enough for nearly every graph that devices share: a channel, which is two nodes, for every fourth node.
constexpr draft_counts room_for_cut(draft_counts c) {
  const int channels = c.nodes / 4 + 32;
  c.nodes += 2 * channels;
  c.model += 2 * channels;
  c.edges += 2 * channels;
  c.words += channels;
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
  int variables = 0, constants = 0, literals = 0, elementwise = 0, checks = 0;
  for (const node& n : d.graph.nodes) {
    const unsigned t = bits(n.op->traits);
    if (t & bits(trait::elementwise)) ++elementwise;
    if ((t & bits(trait::bounded)) && c.symbols != 0) checks += 2 * d.graph.shapes[n.shape].rank;
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
          .checks = checks,
          .chars = c.symbol_chars + device_chars + 64,
          .devices = devices.count,
          .channels = devices.count > 1 ? instructions / 2 : 0,
          .reasons = devices.count > 1 ? instructions : 0};
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
