// From a graph to a model of ONNX's.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <flowgraph/ops/control.hpp>
#include <flowgraph/passes/prune.hpp>
#include "error.hpp"
#include "export_arrays.hpp"
#include "export_elementwise.hpp"
#include "export_neural.hpp"
#include "interface.hpp"

namespace flowgraph::onnx {

class exporter {
 public:
  exporter(const graph_view& model, const boundary& b, std::string_view file)
      : model_(model),
        boundary_(b),
        file_(file),
        pruned_(prune(model, b)),
        graph_(pruned_.graph.view()),
        writer_(graph_),
        values_(static_cast<std::size_t>(graph_.size())) {
    const plan_fault& f = pruned_.fault;
    if (f.why == problem::none) return;
    throw onnx_error(f.why, file_, fault(f.node, std::string(sentence(f.why))));
  }

  // bytes(node of the model): a variable's elements.
  model_proto write(const std::function<std::string(int)>& bytes) {
    // Inputs keep their names, then outputs; weights and what lies between get others where those are taken.
    for (int i = 0; i < graph_.size(); ++i)
      if (graph_.nodes[i].op->id == ops::placeholder::id) add_input(i);
    names outputs;
    for (const named_tensor& f : boundary_.fetches) outputs.push_back(writer_.unique(f.name));
    for (int i = 0; i < graph_.size(); ++i)
      if (graph_.nodes[i].op->id == ops::variable::id) add_variable(i, bytes(model_id(i)));
    write_region(0, {});
    if (!faults_.empty()) throw onnx_error(problem::no_onnx_form, file_, std::move(faults_));
    for (std::size_t k = 0; k < outputs.size(); ++k)
      add_output(values_[static_cast<std::size_t>(pruned_.fetches[static_cast<int>(k)])], outputs[k]);
    writer_.finish();
    writer_.result.name = "flowgraph";
    return {.producer = "flowgraph", .graph = std::move(writer_.result)};
  }

 private:
  static passes::draft prune(const graph_view& model, const boundary& b) {
    std::vector<int> fetches, fed;
    for (const named_tensor& f : b.fetches) fetches.push_back(f.node);
    for (const named_tensor& f : b.fed) fed.push_back(f.node);
    return passes::prune(
        model, {{fetches.data(), static_cast<int>(fetches.size())}, {fed.data(), static_cast<int>(fed.size())}}, true);
  }
  static export_function rule_of(std::uint64_t op) {
    static const auto rules = [] {
      std::unordered_map<std::uint64_t, export_function> all;
      for (const auto& list : {std::span<const export_rule>(elementwise_rules),
                               std::span<const export_rule>(array_rules), std::span<const export_rule>(neural_rules)})
        for (const export_rule& r : list) all[r.op] = r.write;
      return all;
    }();
    const auto found = rules.find(op);
    return found == rules.end() ? nullptr : found->second;
  }

  int model_id(int i) const { return pruned_.model[i]; }
  std::string label(int i) const { return model_label(model_id(i)); }
  std::string model_label(int id) const {
    const std::string_view name = model_.name_of(id);
    if (!name.empty()) return std::string(name);
    return std::string(model_.nodes[id].op->name) + "_" + std::to_string(id);
  }
  value describe(int i, std::string name) const { return {std::move(name), graph_.shape_of(i), graph_.nodes[i].type}; }
  value_proto info(const value& v, const std::string& name) const {
    value_proto p{name, code_of(v.type), true, {}};
    for (int i = 0; i < v.shape.rank; ++i) {
      dimension d;
      d.value = v.shape[i] >= 0 ? v.shape[i] : -1;
      if (v.shape[i] < 0) d.name = writer_.extent_name(v.shape[i]);
      p.dims.push_back(std::move(d));
    }
    return p;
  }

  void add_input(int i) {
    const auto k = static_cast<std::size_t>(i);  // what is fed stands in front
    const value v = describe(i, writer_.unique(k < boundary_.fed.size() ? boundary_.fed[k].name : label(i)));
    writer_.result.inputs.push_back(info(v, v.name));
    for (int axis = 0; axis < v.shape.rank; ++axis)
      if (v.shape[axis] < 0) writer_.bind(std::string(writer_.extent_name(v.shape[axis])), v.name, axis);
    values_[static_cast<std::size_t>(i)] = v;
  }
  void add_variable(int i, std::string bytes) {
    const value v = describe(i, writer_.unique(label(i)));
    tensor_proto t{v.name, code_of(v.type), {}, std::move(bytes)};
    for (int axis = 0; axis < v.shape.rank; ++axis) t.dims.push_back(v.shape[axis]);
    writer_.constant(std::move(t));
    values_[static_cast<std::size_t>(i)] = v;
  }

  // Nodes that order others and nothing else need no form: what they wait for is written, or refused, by itself.
  void write_node(int i) {
    const node& x = graph_.nodes[i];
    const std::uint64_t op = x.op->id;
    if (op == ops::placeholder::id || op == ops::variable::id || op == ops::output::id || op == ops::group::id) return;
    const bool control = op == ops::cond::id || op == ops::while_loop::id;
    const export_function rule = control ? nullptr : rule_of(op);
    if (rule == nullptr && !control) return refuse(i, "has no form in ONNX");
    for (const int in : graph_.inputs(i))
      if (values_[static_cast<std::size_t>(in)].name.empty()) return;  // of a node that was refused
    writer_.label = label(i);
    try {
      if (control) return op == ops::cond::id ? write_cond(i) : write_loop(i);
      node_export n(graph_, i, writer_, values_);
      rule(n);
    } catch (const not_exportable& e) {
      refuse(i, e.reason);
    }
  }

  // The nodes of a region, and its results. arguments: what its owner hands in. Empty: a node of it was refused.
  std::vector<value> write_region(int r, const std::vector<value>& arguments) {
    for (int i = 0; i < graph_.size(); ++i) {
      if (graph_.nodes[i].region != r) continue;
      if (graph_.nodes[i].op->id == ops::argument::id)
        values_[static_cast<std::size_t>(i)] = arguments[static_cast<std::size_t>(graph_.attrs(i)[0])];
      else
        write_node(i);
    }
    std::vector<value> results;
    if (r != 0)
      for (const int id : graph_.results(r)) results.push_back(values_[static_cast<std::size_t>(id)]);
    for (const value& v : results)
      if (v.name.empty()) return {};
    return results;
  }
  // What goes into a region or comes out of it is held as it is.
  std::vector<value> operands(int i) {
    std::vector<value> all;
    for (const int in : graph_.inputs(i)) all.push_back(held_plainly(values_[static_cast<std::size_t>(in)]));
    return all;
  }
  value held_plainly(value v) {
    v.name = writer_.plain(v);
    v.order.clear();
    return v;
  }
  void add_results(graph_proto& g, const std::vector<value>& results) {
    for (const value& v : results) {
      const std::string name = writer_.emit("Identity", {writer_.plain(v)});  // of its own: v may be from outside
      g.outputs.push_back(info(v, name));
    }
  }
  int result_node(int i, int k) const { return graph_.nodes[i].outputs > 1 ? i + 1 + k : i; }
  // A node's results under new names; of several, each has a node behind it.
  names give_results(int i) {
    names all;
    for (int k = 0; k < graph_.nodes[i].outputs; ++k) {
      const int id = result_node(i, k);
      all.push_back(writer_.unique(writer_.label + "/" + std::to_string(k)));
      values_[static_cast<std::size_t>(id)] = describe(id, all.back());
    }
    return all;
  }

  // ONNX chooses between two: of more branches, each is one side, and a choice between those behind it the other.
  void write_cond(int i) {
    const node& x = graph_.nodes[i];
    if (x.outputs == 0) throw not_exportable{"a choice between operations that give no value has no form in ONNX"};
    const std::vector<value> given = operands(i);
    if (x.n_regions == 1) {
      const std::vector<value> results = write_region(x.first_region, given);
      for (std::size_t k = 0; k < results.size(); ++k)
        values_[static_cast<std::size_t>(result_node(i, static_cast<int>(k)))] = results[k];
      return;
    }
    const std::string which = is_chosen(given[0], 0);
    attributes branches = branches_from(i, 0, given, std::string(writer_.label));
    if (!branches.empty()) writer_.emit_into(give_results(i), "If", {which}, std::move(branches));
  }
  std::string is_chosen(const value& which, int k) {
    if (which.type == dtype::boolean) return which.name;
    return writer_.emit("Equal", {which.name, writer_.scalar(which.type, k)});
  }
  // Empty: a node was refused.
  attributes branches_from(int i, int k, const std::vector<value>& given, const std::string& label) {
    const node& x = graph_.nodes[i];
    bool whole = true;
    const auto branch = [&](int r) {
      return writer_.within([&](graph_proto& g) {
        const std::vector<value> results = write_region(x.first_region + r, given);
        whole = whole && !results.empty();
        writer_.label = label;
        add_results(g, results);
      });
    };
    const auto choice = [&] {
      return writer_.within([&](graph_proto& g) {
        const std::string which = is_chosen(given[0], k + 1);
        attributes rest = branches_from(i, k + 1, given, label);
        whole = whole && !rest.empty();
        names outputs;
        for (int r = 0; r < x.outputs; ++r) {
          const std::string name = writer_.unique(label + "/" + std::to_string(r));
          outputs.push_back(name);
          g.outputs.push_back(info(describe(result_node(i, r), name), name));
        }
        if (whole) writer_.emit_into(std::move(outputs), "If", {which}, std::move(rest));
      });
    };
    graph_proto taken = branch(k), others = k + 2 == x.n_regions ? branch(k + 1) : choice();
    if (!whole) return {};
    return {attribute("then_branch", std::move(taken)), attribute("else_branch", std::move(others))};
  }
  // ONNX asks for the condition before the first turn, and of each turn for that of the next.
  void write_loop(int i) {
    const node& x = graph_.nodes[i];
    const std::string label = writer_.label;
    std::vector<value> given = operands(i);
    const auto carried = static_cast<std::size_t>(x.outputs);
    const std::int64_t most = attrs_of<ops::while_loop::attrs>(i).most_turns;
    const std::vector<value> first = write_region(x.first_region, given);
    if (first.empty() || carried == 0) return;
    names inputs{most < 0 ? "" : writer_.scalar(dtype::int64, static_cast<double>(most)), writer_.plain(first[0])};
    for (std::size_t k = 0; k < carried; ++k) inputs.push_back(given[k].name);
    bool whole = true;
    writer_.label = label;
    graph_proto body = writer_.within([&](graph_proto& g) {
      g.inputs.push_back({writer_.unique(label + "/turn"), code_of(dtype::int64), true, {}});
      g.inputs.push_back({writer_.unique(label + "/go_on"), code_of(dtype::boolean), true, {}});
      for (std::size_t k = 0; k < carried; ++k) {
        given[k].name = writer_.unique(label + "/variable");
        g.inputs.push_back(info(given[k], given[k].name));
      }
      const std::vector<value> next = write_region(x.first_region + 1, given);
      for (std::size_t k = 0; k < next.size(); ++k) given[k] = held_plainly(next[k]);
      std::vector<value> results;
      if (!next.empty()) results = write_region(x.first_region, given);
      whole = !results.empty();
      if (!whole) return;
      results.insert(results.end(), given.begin(), given.begin() + static_cast<std::ptrdiff_t>(carried));
      writer_.label = label;
      add_results(g, results);
    });
    if (whole) writer_.emit_into(give_results(i), "Loop", std::move(inputs), {attribute("body", std::move(body))});
  }
  template <class A>
  A attrs_of(int i) const {
    return detail::attrs_from_words<A>(graph_.attrs(i).data);
  }

  void refuse(int i, std::string reason) { faults_.push_back(fault(model_id(i), std::move(reason))); }
  onnx_fault fault(int id, std::string reason) const {
    std::string where;
    if (id < model_.origins.count) {
      const source& line = model_.origins[id].where;
      where = std::string(line.file) + ":" + std::to_string(line.line);
    }
    return {model_label(id), std::string(model_.nodes[id].op->name), std::move(where), std::move(reason)};
  }

  // The node that gives the value gets the output's name, unless what gives it has a name already.
  void add_output(const value& v, const std::string& name) {
    writer_.result.outputs.push_back(info(v, name));
    writer_.label = name;
    const std::string tensor = writer_.plain(v);
    auto& nodes = writer_.result.nodes;
    const auto taken = [&](const value_proto& p) { return p.name == tensor; };
    const bool is_output = std::any_of(writer_.result.outputs.begin(), writer_.result.outputs.end(), taken);
    const auto giver = std::find_if(nodes.begin(), nodes.end(), [&](const node_proto& n) {
      return std::find(n.outputs.begin(), n.outputs.end(), tensor) != n.outputs.end();
    });
    if (giver == nodes.end() || is_output) return writer_.emit_into({name}, "Identity", {tensor});
    std::replace(giver->outputs.begin(), giver->outputs.end(), tensor, name);
    each_operand(nodes, [&](std::string& operand) {
      if (operand == tensor) operand = name;
    });
    for (value& each : values_)
      if (each.name == tensor) each.name = name;
  }

  graph_view model_;
  boundary boundary_;
  std::string file_;
  passes::draft pruned_;
  graph_view graph_;
  graph_writer writer_;
  std::vector<value> values_;  // of each node of the pruned graph
  std::vector<onnx_fault> faults_;
};

}  // namespace flowgraph::onnx
