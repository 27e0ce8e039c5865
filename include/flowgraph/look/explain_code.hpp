// Defines what explain.hpp declares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <flowgraph/engine/text.hpp>
#include <flowgraph/graph/node_text.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include "explain.hpp"
#include "look_plan.hpp"

namespace flowgraph::detail {

// 1536 bytes, 24.5 kB, 3.1 MB
inline std::string bytes_text(std::int64_t n) {
  if (n < 10'000) return fmt::format("{} bytes", n);
  if (n < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(n) * 1e-3);
  return fmt::format("{:.1f} MB", static_cast<double>(n) * 1e-6);
}

class explainer {
 public:
  explainer(const graph_view& g, const look_options& o) : g_(g), options_(o), numbers_(o.extents) {}

  std::string text() {
    out_ = fmt::format("model     {:>6} nodes   {} parameters, {} of state\n", g_.size(), count_state(g_, false),
                       bytes_text(count_state(g_, true)));
    const plan_data p = plan_to_look_at(g_, options_, [this](const auto&... heard) { hear(heard...); });
    if (p.fault.why == problem::none)
      explain_plan(p.view());
    else
      out_ +=
          fmt::format("no plan: {}{}\n", sentence(p.fault.why), p.fault.node < 0 ? "" : ": " + described(p.fault.node));
    return std::move(out_);
  }

 private:
  using lines = std::vector<std::string>;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // matmul_12 (model.cpp:30)
  std::string described(int node) const { return fmt::format("{} ({})", label_of(g_, node), line_text(g_, node)); }

  // changed: what to say where it is not 0.
  void line(std::string_view pass, const passes::draft_view& d, int changed, std::string_view what,
            const lines& examples = {}, const std::string& more = "") {
    out_ += fmt::format("{:<10}{:>6} nodes   {}\n", pass, d.graph.size(),
                        changed == 0 ? "(unchanged)" : fmt::format("{}: {}{}", what, changed, more));
    for (std::size_t i = 0; i < examples.size() && i < options_.examples; ++i)
      out_ += fmt::format("{:25}{}\n", "", examples[i]);
    if (examples.size() > options_.examples)
      out_ += fmt::format("{:25}and {} more\n", "", examples.size() - options_.examples);
  }

  // Called as passes::no_log is.
  void hear(std::string_view pass, int changed, const passes::draft_view& d, slice<int> device = {},
            const passes::fusion& together = {}) {
    if (pass == "prune")
      line(pass, d, changed, pruned_ ? "not needed any more" : "not needed", pruned_ ? lines{} : left_out(d));
    else if (pass == "fold")
      line(pass, d, changed, "became constants", folded(d));
    else if (pass == "simplify")
      line(pass, d, changed, "have a cheaper form", redirected(d));
    else if (pass == "cse")
      line(pass, d, changed, "compute what another one does", redirected(d));
    else if (pass == "place")
      out_ += fmt::format("{:<10}{:>6} nodes   {}\n", pass, d.graph.size(), placed(device));
    else if (pass == "partition")
      sent(pass, d);
    else if (pass == "fuse")
      line(pass, d, together.fused, "groups that run as one instruction", groups(d, together));
    pruned_ = true;
    remember(d);
  }

  // What must be known of a graph to say how the next one differs.
  void remember(const passes::draft_view& d) {
    model_.assign(d.model.begin(), d.model.end());
    fetches_.assign(d.fetches.begin(), d.fetches.end());
    ops_.clear();
    inputs_.clear();
    for (int i = 0; i < d.graph.size(); ++i) {
      ops_.push_back(d.graph.nodes[i].op->id);
      inputs_.emplace_back(d.graph.inputs(i).begin(), d.graph.inputs(i).end());
    }
  }

  lines left_out(const passes::draft_view& d) const {
    std::vector<bool> there(at(g_.size()));
    for (const int m : d.model) there[at(m)] = true;
    lines all;
    for (int i = 0; i < g_.size(); ++i)
      if (!there[at(i)]) all.push_back(described(i));
    return all;
  }

  lines folded(const passes::draft_view& d) const {
    lines all;
    for (int i = 0; i < d.graph.size(); ++i)
      if (d.graph.nodes[i].op->id == ops::constant::id && ops_[at(i)] != ops::constant::id)
        all.push_back(fmt::format("{} = {}", described(d.model[i]), word_text(d.graph.attrs(i)[0])));
    return all;
  }

  // Nodes whose readers now read another one. New nodes stand before the one they were made for, and come from the
  // same node of the model.
  lines redirected(const passes::draft_view& d) const {
    std::vector<int> now(model_.size());  // where each node stands
    int next = 0;
    for (std::size_t i = 0; i < model_.size(); ++i, ++next) {
      const bool last = i + 1 == model_.size() || model_[i + 1] != model_[i];
      while (last && next + 1 < d.graph.size() && d.model[next + 1] == model_[i]) ++next;
      now[i] = next;
    }
    std::map<int, int> to;
    const auto compare = [&](int before, int after) {
      if (now[at(before)] != after) to[before] = after;
    };
    for (std::size_t i = 0; i < model_.size(); ++i) {
      const slice<int> after = d.graph.inputs(now[i]);
      for (int k = 0; k < after.count; ++k) compare(inputs_[i][at(k)], after[k]);
    }
    for (int k = 0; k < d.fetches.count; ++k) compare(fetches_[at(k)], d.fetches[k]);
    lines all;
    for (const auto& [before, after] : to)
      all.push_back(d.model[after] == model_[at(before)]
                        ? fmt::format("{} became {}", described(model_[at(before)]), d.graph.nodes[after].op->name)
                        : fmt::format("{} is {}", described(model_[at(before)]), described(d.model[after])));
    return all;
  }

  std::string placed(slice<int> device) const {
    std::vector<int> on(options_.devices.size());
    for (const int k : device) ++on[at(k)];
    std::string text;
    for (std::size_t k = 0; k < on.size(); ++k)
      text += fmt::format("{}{} on {}", k == 0 ? "" : ", ", on[k], options_.devices[k]);
    return text;
  }
  void sent(std::string_view pass, const passes::draft_view& d) {
    const std::vector<std::int64_t> symbols = numbers_.of(d.graph);
    int sends = 0;
    std::int64_t bytes = 0;
    for (int i = 0; i < d.graph.size(); ++i) {
      if (d.graph.nodes[i].op->id != ops::send::id || d.graph.nodes[i].n_inputs == 0) continue;
      const node& x = d.graph.nodes[d.graph.inputs(i)[0]];
      ++sends;
      bytes += bytes_of(x.type, d.graph.shape(x.shape), symbols);
    }
    line(pass, d, sends, "values that go to another device", {}, ", " + bytes_text(bytes));
  }

  lines groups(const passes::draft_view& d, const passes::fusion& together) {
    std::vector<std::string> ops(at(together.groups.count));
    std::vector<int> sizes(ops.size());
    const std::vector<std::int64_t> symbols = numbers_.of(d.graph);
    for (int i = 0; i < d.graph.size(); ++i) {
      const node& x = d.graph.nodes[i];
      if (!x.op->is(trait::source) && !x.op->is(trait::view) && x.op->id != flowgraph::ops::output::id)
        apart_ += bytes_of(x.type, d.graph.shape(x.shape), symbols);
      const std::size_t group = at(together.of[i]);
      if (group == 0) continue;
      ops[group] += (ops[group].empty() ? "" : "+") + std::string(x.op->name);
      ++sizes[group];
    }
    lines all;
    for (std::size_t k = 1; k < ops.size(); ++k)
      if (sizes[k] > 1)
        all.push_back(fmt::format("{} at {}", ops[k], described(d.model[together.groups[static_cast<int>(k)].root])));
    return all;
  }

  void explain_plan(const plan_view& p) {
    const std::vector<std::int64_t> symbols = numbers_.of(p);
    std::int64_t stored = 0, values = 0;
    for (const instruction& x : p.instructions)
      for (const operand& o : p.outputs(x)) {
        if (o.where != storage::slot) continue;
        stored += bytes_of(p, o, symbols);
        ++values;
      }
    std::int64_t planned = 0;
    for (const std::int64_t bytes : lay_out(p, symbols.data()).totals) planned += bytes;
    out_ += fmt::format("plan      {:>6} instructions\n", p.instructions.size());
    out_ += fmt::format(
        "memory    {} if each value had its own, {} in {} values after fusing, {} in {} slots that they "
        "share",
        bytes_text(apart_), bytes_text(stored), values, bytes_text(planned), p.slots.size());
    const std::string assumed = numbers_.assumed_text();
    out_ += assumed.empty() ? "\n" : fmt::format(", with {}\n", assumed);
  }

  const graph_view& g_;
  const look_options& options_;
  extent_numbers numbers_;
  std::string out_;
  bool pruned_ = false;
  std::int64_t apart_ = 0;
  // Of the graph before:
  std::vector<int> model_, fetches_;
  std::vector<std::uint64_t> ops_;
  std::vector<std::vector<int>> inputs_;
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string explain_graph(const graph_view& g, const look_options& o) {
  return explainer(g, o).text();
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
