// The way from a model to a plan. Read this page first: one line for each pass, and why it stands where it does.
#pragma once
#include "depend.hpp"
#include "memory.hpp"
#include "place.hpp"

namespace flowgraph::passes {

struct options {
  bool fold = true;
  bool simplify = true;
  bool merge = true;
  bool fuse = true;
};

constexpr plan_data plan(const graph_view& model, const signature& s, detail::slice<std::string_view> devices,
                         const options& = {}) {
  draft d = prune(model, s);
  const placement on = place(d.view(), model, devices);
  const fusion together = no_fusion(d.graph.size());
  const locations where = locate(d.view());
  const detail::vec<int> sequence = order(d.view(), where, together);
  lowered l = lower(d.view(), on.device, where, together, sequence);
  memory(l.plan, d.graph.size());
  for (const std::string_view name : devices) {
    l.plan.devices.push({l.plan.chars.size(), static_cast<int>(name.size())});
    for (const char c : name) l.plan.chars.push(c);
  }
  depend(l.plan, l.controls);
  l.plan.fault = d.fault.why != problem::none ? d.fault : on.fault;
  return static_cast<plan_data&&>(l.plan);
}

}  // namespace flowgraph::passes
