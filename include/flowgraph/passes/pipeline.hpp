// The way from a model to a plan. Read this page first: a line for each pass, and why it stands where it does.
#pragma once
#include <flowgraph/graph/verify.hpp>
#include "cse.hpp"
#include "depend.hpp"
#include "fold.hpp"
#include "fuse.hpp"
#include "memory.hpp"
#include "partition.hpp"
#include "simplify.hpp"

namespace flowgraph::passes {

struct options {
  bool fold = true;
  bool simplify = true;
  bool cse = true;
  bool sweep = true;  // what these leave behind goes; false: whoever asks does that in an evaluation of its own
  bool fuse = true;
  bool wide = true;             // instructions that could run side by side do not wait for each other's memory
  bool verify = false;          // the graph is checked after every pass that changes it
  bool allow_unfed = false;     // placeholders that nobody feeds count as fed: for facts about a model
  bool one_device = false;      // constraints don't matter, everything is on the first device
  bool soft_placement = false;  // a constraint that no device satisfies counts as none
  device_kinds kinds = {};      // of devices that do not compute everything

  bool operator==(const options&) const = default;
};

// Hears of every pass when it is done: its name, what it changed, what it left. See pass_log.hpp.
struct no_log {
  constexpr void operator()(std::string_view, int, const draft_view&, detail::slice<int> = {},
                            const fusion& = {}) const {}
};

// What a step computes, on no device in particular.
template <class Log = no_log>
constexpr draft optimise(const graph_view& model, const signature& s, const options& o = {}, const Log& log = {}) {
  draft d = prune(model, s, o.allow_unfed);  // first: nothing else should spend time on what is not needed
  const auto done = [&](std::string_view pass, int changed) {
    log(pass, changed, d.view());
    if (!o.verify || d.fault.why != problem::none) return;
    const graph_fault f = verify(d.graph.view());
    if (f.why != problem::none) d.fault = {f.why, d.model[f.node]};
  };
  done("prune", model.size() - d.graph.size());
  if (d.fault.why != problem::none) return d;
  const int folded = o.fold ? fold(d) : 0;  // before simplify, whose rules look for constants
  done("fold", folded);
  const int replaced = o.simplify ? simplify(d) : 0;  // before cse, so that equal things look equal
  done("simplify", replaced);
  const int merged = o.cse ? cse(d) : 0;
  done("cse", merged);
  const int before = d.graph.size();
  if (o.sweep && folded + replaced + merged != 0)
    prune(d);  // what they left must not be placed, counted as a reader, or run
  done("prune", before - d.graph.size());
  if (o.sweep && !o.allow_unfed && d.fault.why == problem::none)
    if (const int i = find_unbound(d.view()); i >= 0) d.fault = {problem::extent_unknown, d.model[i]};
  return d;
}

// Who does it.
struct distribution {
  detail::vec<int> device;  // of each node of the graph that is run
  detail::vec<placed> why;  // of each node of that graph; empty where no device was asked for
  draft cut;                // that graph with its sends and receives; empty where nothing crosses devices
  plan_fault fault;

  constexpr assignment view(detail::slice<std::string_view> devices) const { return {device, why, devices}; }
};

template <class Log = no_log>
constexpr distribution distribute(const draft_view& d, const graph_view& model, detail::slice<std::string_view> devices,
                                  const options& o = {}, const Log& log = {}) {
  distribution result;
  placement on = place(d, model, devices, {o.one_device, o.soft_placement, o.kinds});
  log("place", 0, d, on.device);
  result.fault = on.fault;
  if (result.fault.why != problem::none) return result;
  const draft_view run = partition(d, on, result.cut) ? result.cut.view() : d;  // before fuse: no instruction spans
  log("partition", result.cut.graph.size(), run, on.device);                    // devices
  if (o.verify) {
    const graph_fault f = verify(run.graph);
    if (f.why != problem::none) result.fault = {f.why, run.model[f.node]};
  }
  result.device = static_cast<detail::vec<int>&&>(on.device);
  result.why = static_cast<detail::vec<placed>&&>(on.why);
  return result;
}

// In which order, and what runs as one instruction.
struct arrangement {
  fusion together;
  detail::vec<int> sequence;  // nodes that become instructions
};

template <class Log = no_log>
constexpr arrangement arrange(const draft_view& d, detail::slice<int> device, const options& o = {},
                              const Log& log = {}) {
  arrangement a;
  if (o.fuse)
    a.together = fuse(d, device);  // before order, which moves whole groups
  else
    a.together = no_fusion(d.graph.size());
  log("fuse", a.together.fused, d, device, a.together);
  a.sequence = order(d, locate(d), a.together);  // before memory: it decides who lives at the same time
  return a;
}

// The instructions for it, their memory, and who waits for whom.
constexpr lowered instruct(const draft_view& d, const assignment& on, const fusion& together,
                           detail::slice<int> sequence) {
  return lower(d, on, locate(d), together, sequence);
}
constexpr plan_data assemble(const draft_view& d, const assignment& on, const fusion& together,
                             detail::slice<int> sequence, bool wide = options{}.wide) {
  lowered l = instruct(d, on, together, sequence);
  memory(l.plan, d.graph.size(), wide);
  depend(l.plan, l.controls);  // last: memory that is reused makes instructions wait, too
  return static_cast<plan_data&&>(l.plan);
}

// A plan for one signature on these devices; the same at compile time and at run time. Its fault says why there is
// none.
template <class Log = no_log>
constexpr plan_data plan(const graph_view& model, const signature& s, detail::slice<std::string_view> devices,
                         const options& o = {}, const Log& log = {}) {
  const draft d = optimise(model, s, o, log);
  plan_data result;
  result.fault = d.fault;
  if (result.fault.why != problem::none) return result;
  const distribution on = distribute(d.view(), model, devices, o, log);
  result.fault = on.fault;
  if (result.fault.why != problem::none) return result;
  const draft_view run = on.cut.graph.size() != 0 ? on.cut.view() : d.view();
  const arrangement a = arrange(run, on.device, o, log);
  result = assemble(run, on.view(devices), a.together, a.sequence, o.wide);
  return result;
}

}  // namespace flowgraph::passes
