// Defines what html.hpp declares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/engine/text.hpp>
#include <flowgraph/graph/node_text.hpp>
#include <flowgraph/graph/structural.hpp>
#include <flowgraph/ops/sources.hpp>
#include "html.hpp"
#include "json_text.hpp"
#include "look_plan.hpp"
#include "node_paths.hpp"
#include "page_graph.hpp"
#include "page_layout.hpp"
#include "page_views.hpp"
#include "write_text.hpp"

namespace flowgraph::detail {

// What the page draws. Its script has the other half of each name.
class page_data {
 public:
  page_data(const graph_view& g, const look_options& options)
      : g_(g),
        options_(options),
        numbers_(options.extents),
        placed_(at(g.size()), -1),
        together_(at(g.size()), -1) {}

  std::string write(std::string_view title, const std::vector<step_profile>& steps) {
    const plan_data p =
        plan_to_look_at(g_, options_,
                        [this](std::string_view pass, int, const passes::draft_view& d, slice<int> device = {},
                               const passes::fusion& f = {}) { note(pass, d, device, f); });
    out_.object([&] {
      out_.field("title", title);
      out_.field("devices", [&] {
        out_.array([&] {
          for (const std::string_view d : options_.devices) out_.value(d);
        });
      });
      out_.field("nodes", [&] { nodes(); });
      if (p.fault.why == problem::none) out_.field("plan", [&] { plan(p.view()); });
      out_.field("steps", [&] {
        out_.array([&] {
          for (const step_profile& s : steps) step(s);
        });
      });
    });
    return std::move(out_).text();
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Where each node was placed, and with which root it runs as one instruction.
  void note(std::string_view pass, const passes::draft_view& d, slice<int> device, const passes::fusion& f) {
    if (pass == "place")
      for (int i = 0; i < d.graph.size(); ++i) placed_[at(d.model[i])] = device[i];
    if (pass == "fuse")
      for (int i = 0; i < d.graph.size(); ++i)
        if (f.of[i] != 0) together_[at(d.model[i])] = d.model[f.groups[f.of[i]].root];
  }

  void ids(std::string_view name, slice<int> all) {
    if (all.count == 0) return;
    out_.field(name, [&] {
      out_.array([&] {
        for (const int i : all) out_.value(i);
      });
    });
  }
  void nodes() {
    const node_paths paths(g_);
    out_.array([&] {
      for (int i = 0; i < g_.size(); ++i) out_.object([&] { node_fields(i, paths); });
    });
  }
  void node_fields(int i, const node_paths& paths) {
    const node& n = g_.nodes[i];
    out_.field("path", paths[i]);
    out_.field("op", n.op->name);
    if (n.type != dtype::none) out_.field("type", type_text_of(g_, n.type, n.shape));
    out_.field("where", line_text(g_, i));
    if (placed_[at(i)] >= 0) out_.field("device", placed_[at(i)]);
    if (n.device != 0) out_.field("asks", g_.device(i));
    if (together_[at(i)] >= 0) out_.field("together", together_[at(i)]);
    if (n.op->is(trait::source)) out_.field("source", true);
    std::vector<int> in(g_.inputs(i).begin(), g_.inputs(i).end());
    if (n.op->id == ops::argument::id) {  // what enters a region comes from an input of its owner
      const int owner = g_.regions[n.region].owner;
      const auto k = static_cast<int>(g_.attrs(i)[0]);
      if (k < g_.nodes[owner].n_inputs) in.push_back(g_.inputs(owner)[k]);
    }
    for (int r = n.first_region; r < n.first_region + n.n_regions; ++r)
      in.insert(in.end(), g_.results(r).begin(), g_.results(r).end());
    ids("in", {in.data(), static_cast<int>(in.size())});
    ids("after", g_.controls(i));
  }

  // Instructions in their order, and each value with its place in the arena and its time: from the instruction that
  // writes it to the last one that reads it.
  void plan(const plan_view& p) {
    struct value {
      int node, slot, from, to;
      std::int64_t bytes;
    };
    const std::vector<std::int64_t> symbols = numbers_.of(p);
    const memory_layout layout = lay_out(p, symbols.data());
    std::vector<value> values;
    std::vector<int> present(at(p.slots.size()), -1);  // in each slot
    const auto read = [&](const operand& o, int when) {
      if (o.where == storage::slot && present[at(o.index)] >= 0) values[at(present[at(o.index)])].to = when;
    };
    for (int i = 0; i < p.instructions.size(); ++i) {
      const instruction& x = p.instructions[i];
      for (const operand& o : p.inputs(x)) read(o, i);
      for (const operand& o : p.outputs(x)) {
        if (o.where != storage::slot || layout.bytes[o.index] == 0) continue;  // what devices share is shown once
        present[at(o.index)] = static_cast<int>(values.size());
        values.push_back({x.node, o.index, i, i, bytes_of(p, o, symbols)});
      }
    }
    for (const operand& o : p.fetches) read(o, p.instructions.size());
    out_.object([&] {
      out_.field("assumed", numbers_.assumed_text());
      out_.field("instructions", [&] {
        out_.array([&] {
          for (const instruction& x : p.instructions) out_.value(x.node);
        });
      });
      out_.field("totals", [&] {
        out_.array([&] {
          for (const std::int64_t t : layout.totals) out_.value(t);
        });
      });
      out_.field("values", [&] {
        out_.array([&] {
          for (const value& v : values)
            out_.object([&] {
              out_.field("node", v.node);
              out_.field("device", p.slots[v.slot].device);
              out_.field("offset", layout.offsets[v.slot]);
              out_.field("bytes", v.bytes);
              out_.field("from", v.from);
              out_.field("to", v.to);
            });
        });
      });
    });
  }

  void step(const step_profile& s) {
    out_.object([&] {
      out_.field("step", s.step);
      out_.field("ns", s.nanoseconds);
      out_.field("spans", [&] {
        out_.array([&] {
          for (const instruction_profile& i : s.instructions)
            out_.object([&] {
              out_.field("node", i.id);
              out_.field("op", i.op);
              out_.field("device", i.device);
              out_.field("thread", i.thread);
              out_.field("begin", i.begin);
              out_.field("end", i.end);
              out_.field("shapes", i.shapes);
              out_.field("provider", i.provider);
              out_.field("bytes", i.bytes);
              out_.field("flops", i.flops);
              out_.field("waited", i.waited);
            });
        });
      });
    });
  }

  const graph_view& g_;
  const look_options& options_;
  extent_numbers numbers_;
  std::vector<int> placed_, together_;
  json_text out_;
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string page_of(const graph_view& g, const std::vector<step_profile>& steps,
                                         const look_options& o) {
  std::string page(page_head);
  page += page_style;
  page += page_body;
  page += "<script type=\"application/json\" id=\"data\">";
  page += page_data(g, o).write(o.title, steps);
  page += "</script>\n<script>\n";
  page += page_script_graph;
  page += page_script_views;
  return page + "</script>\n</body>\n</html>\n";
}

FLOWGRAPH_OTHER_HALF void write_page(const file_path& path, const graph_view& g, const std::vector<step_profile>& steps,
                                     const look_options& o) {
  write_text(path, page_of(g, steps, o));
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
