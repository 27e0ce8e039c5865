// The way from a model to a plan. Read this page first: one line for each pass, and why it stands where it does.
#pragma once
#include "cse.hpp"
#include "depend.hpp"
#include "fold.hpp"
#include "fuse.hpp"
#include "memory.hpp"
#include "place.hpp"
#include "simplify.hpp"

namespace flowgraph::passes {

struct options {
  bool fold = true;
  bool simplify = true;
  bool cse = true;
  bool fuse = true;
  bool allow_unfed = false;  // placeholders that nobody feeds count as fed: for facts about a model
  bool one_device = false;   // constraints don't matter, everything is on the first device
};

constexpr plan_data plan(const graph_view& model, const signature& s, detail::slice<std::string_view> devices,
                         const options& o = {}) {
  plan_data result;
  draft d = prune(model, s, o.allow_unfed);
  result.fault = d.fault;
  if (result.fault.why != problem::none) return result;
  int changed = 0;
  if (o.fold) changed += fold(d);
  if (o.simplify) changed += simplify(d);
  if (o.cse) changed += cse(d);
  if (changed != 0) prune(d);
  placement on;
  if (o.one_device)
    on.device = detail::vec<int>(d.graph.size());
  else
    on = place(d.view(), model, devices);
  result.fault = on.fault;
  if (result.fault.why != problem::none) return result;
  fusion together = no_fusion(d.graph.size());
  if (o.fuse) together = fuse(d.view(), on.device);
  const locations where = locate(d.view());
  const detail::vec<int> sequence = order(d.view(), where, together);
  lowered l = lower(d.view(), on.device, where, together, sequence);
  memory(l.plan, d.graph.size());
  for (const std::string_view name : devices) {
    l.plan.devices.push({l.plan.chars.size(), static_cast<int>(name.size())});
    for (const char c : name) l.plan.chars.push(c);
  }
  depend(l.plan, l.controls);
  result = static_cast<plan_data&&>(l.plan);
  return result;
}

}  // namespace flowgraph::passes
