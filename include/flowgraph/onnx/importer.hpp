// From a model of ONNX's to a graph.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "error.hpp"
#include "import_arrays.hpp"
#include "import_control.hpp"
#include "import_elementwise.hpp"
#include "import_neural.hpp"
#include "import_recurrent.hpp"
#include "import_shapes.hpp"
#include "interface.hpp"

namespace flowgraph::onnx {

inline constexpr std::int64_t oldest_opset = 13;

class importer {
 public:
  // budget: for what the import makes; it outlives this.
  importer(graph_data& g, const std::filesystem::path& file, const model_proto& m, detail::memory_budget& budget)
      : graph_(g),
        file_(file.string()),
        model_(m),
        values_(g, m.graph, budget) {}

  void read(const char* file_in_graph) {
    if (model_.opset < oldest_opset)
      fail(problem::onnx_unsupported, {"", "", "",
                                       "is of opset " + std::to_string(model_.opset) + ", and opset " +
                                           std::to_string(oldest_opset) + " is the oldest that is imported"});
    add_initializers(model_.graph);
    for (const value_proto& v : model_.graph.inputs)
      for (const dimension& d : v.dims)
        if (d.value < 0 && is_name(d.name)) names_.insert(d.name);
    for (const value_proto& v : model_.graph.inputs)
      if (values_.find(v.name) == nullptr) add_input(v);  // of older files, initialisers are inputs, too
    for (std::size_t i = 0; i < model_.graph.nodes.size(); ++i) {
      graph_.where = {file_in_graph, static_cast<int>(i) + 1};
      read_node(model_.graph.nodes[i]);
    }
    for (const value_proto& v : model_.graph.outputs) add_output(v);
  }

  std::vector<onnx_value> inputs, outputs;

 private:
  [[noreturn]] void fail(problem why, onnx_fault fault) const { throw onnx_error(why, file_, std::move(fault)); }

  void add_initializers(const graph_proto& g) {
    for (const tensor_proto& t : g.initializers)
      if (!values_.add(t.name, {.tensor = &t, .weight = true}))
        fail(problem::file_malformed, {"", "", "", "has two initialisers \"" + t.name + "\""});
  }

  static import_function rule_of(std::string_view op) {
    static const auto rules = [] {
      std::unordered_map<std::string_view, import_function> all;
      for (const auto& list :
           {std::span<const import_rule>(elementwise_import_rules), std::span<const import_rule>(shape_import_rules),
            std::span<const import_rule>(array_import_rules), std::span<const import_rule>(neural_import_rules),
            std::span<const import_rule>(control_import_rules), std::span<const import_rule>(recurrent_import_rules)})
        for (const import_rule& r : list) all[r.op] = r.read;
      return all;
    }();
    const auto found = rules.find(op);
    return found == rules.end() ? nullptr : found->second;
  }

  // A dimension's text as an extent: a name, or one computed of names that inputs have, such as "past + 1".
  extent extent_of(const std::string& text) {
    if (const auto known = extents_.find(text); known != extents_.end()) return known->second;
    std::string expression;
    for (const char c : text)
      if (c != ' ') expression += c;
    return extents_[text] = computed_of_names(expression) ? graph_.symbols.intern(canonical(expression))
                                                          : graph_.symbols.intern(unused_name(text));
  }
  static bool is_name(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return !text.empty() && text.size() <= most_name && !digit(text[0]) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
  }
  static std::string canonical(const std::string& expression) {
    return std::string(detail::extent_polynomial(expression).text().view());
  }
  bool computed_of_names(const std::string& expression) const {
    // Short: neither a number nor a product of them must overflow.
    if (expression.size() > most_name || expression.find_first_of("+-*/") == std::string::npos) return false;
    const detail::extent_polynomial p(expression);
    bool fits = p.ok() && !p.text().too_long;
    for (const detail::extent_term& t : p.terms()) {
      fits = fits && t.coefficient < most_elements && t.coefficient > -most_elements &&
             t.count < detail::extent_term::max_factors;
      for (int i = 0; i < t.count && fits; ++i) fits = names_.contains(std::string(t.factors[i].view()));
    }
    return fits;
  }
  // What no other dimension is called: of letters, digits and underscores, no digit first.
  std::string unused_name(const std::string& text) {
    if (is_name(text)) return text;
    std::string s;
    for (const char c : text.substr(0, most_name - 8)) s += is_name(std::string{'n', c}) ? c : '_';
    if (!is_name(s)) s = "n" + s;
    std::string unused = s;
    for (int k = 2; names_.contains(unused); ++k) unused = s + "_" + std::to_string(k);
    names_.insert(unused);
    return unused;
  }
  void add_input(const value_proto& v) {
    const dtype type = dtype_of_code(v.code);
    const auto refuse = [&](const std::string& what) {
      fail(problem::onnx_unsupported, {"", "", "", "input \"" + v.name + "\" " + what});
    };
    if (type == dtype::none) refuse("has an element type that no tensor here has: " + std::to_string(v.code));
    if (!v.has_shape || v.dims.size() > static_cast<std::size_t>(max_rank))
      refuse("must have a shape of at most 8 axes");
    extents e;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < v.dims.size(); ++i) {
      const dimension& d = v.dims[i];
      if (d.value >= 0) numbers.push_back(d.value);
      e.push(d.value >= 0      ? d.value
             : !d.name.empty() ? extent_of(d.name)
                               : graph_.symbols.intern(own_name(v.name + "_" + std::to_string(i))));
    }
    if (count_elements(numbers) < 0) refuse("is larger than any tensor here");
    const int id = graph_.append(op_def_of<ops::placeholder>, graph_.intern_shape(e), type, nullptr, 0);
    graph_.name(id, v.name);
    values_.add(v.name, {.node = id});
    inputs.push_back(describe(v.name, id));
  }
  // A dimension without a name gets one of its own: "x_0".
  std::string own_name(const std::string& text) {
    if (!is_name(text) || !names_.insert(text).second) return unused_name(text + "_");
    return text;
  }
  void add_output(const value_proto& v) {
    imported_value* value = values_.find(v.name);
    const auto refuse = [&](problem why, const std::string& what) {
      fail(why, {"", "", "", "output \"" + v.name + "\" " + what});
    };
    if (value == nullptr) refuse(problem::file_malformed, "is given by no node");
    try {
      const int id = values_.node(v.name, *value).id;
      if (graph_.view().find(v.name) != id) graph_.name(id, v.name);
      outputs.push_back(describe(v.name, id));
    } catch (const not_importable& e) {
      refuse(e.why, "can't be imported: " + e.reason);
    }
  }
  onnx_value describe(const std::string& name, int id) const {
    onnx_value d{name, graph_.nodes[id].type, {}};
    const extents e = graph_.shape_of(id);
    for (int i = 0; i < e.rank; ++i)
      d.extents.push_back(e[i] >= 0 ? std::to_string(e[i]) : std::string(graph_.symbols.text(e[i])));
    return d;
  }

  void read_node(const node_proto& n) {
    const std::string name = !n.name.empty() ? n.name : !n.outputs.empty() ? n.outputs[0] : "";
    const std::string op = n.domain.empty() || n.domain == "ai.onnx" ? n.op : n.domain + "." + n.op;
    const import_function rule = rule_of(op);
    if (rule == nullptr) fail(problem::onnx_unsupported, {name, op, "", "is an op that can't be imported"});
    const int before = graph_.size();
    const int symbols_before = graph_.symbols.size();
    try {
      node_import context(values_, n, model_.opset, read_inner_);
      rule(context);
      for (int i = before; i < graph_.size(); ++i) check_types(i), check_size(i);
      values_.budget.spend(static_cast<std::uint64_t>(graph_.size() - before) * bytes_of_node +
                           static_cast<std::uint64_t>(graph_.symbols.size() - symbols_before) * bytes_of_name);
    } catch (const not_importable& e) {
      fail(e.why, {name, op, "", e.reason});
    } catch (const graph_error& e) {
      fail(e.why(), {name, op, "", std::string(sentence(e.why()))});
    }
  }
  // emit does not ask the rule where shapes agree, and a file may have any element type.
  void check_types(int id) const {
    const node& x = graph_.nodes[id];
    if (!x.op->is(trait::shape_preserving)) return;
    symbols none;
    inference f(none);
    for (int k = 0; k < x.n_inputs; ++k) f.operand({}, graph_.nodes[graph_.inputs(id)[k]].type);
    f.attributes(graph_.words.data + x.attrs);
    f.declare({}, x.type);
    x.op->infer(f);
    if (f.why() != problem::none) throw not_importable{f.why(), std::string(sentence(f.why()))};
  }
  // What is computed next may multiply these extents.
  void check_size(int id) const {
    const extents e = graph_.shape_of(id);
    std::vector<std::int64_t> numbers;
    for (int i = 0; i < e.rank; ++i) {
      if (e[i] >= 0)
        numbers.push_back(e[i]);
      else
        check_name(graph_.symbols.text(e[i]));
    }
    if (count_elements(numbers) < 0) node_import::fail("its result is larger than any tensor here");
  }
  static void check_name(std::string_view text) {
    bool fits = text.size() < static_cast<std::size_t>(detail::max_extent_text);
    const detail::extent_polynomial p(text);
    for (const detail::extent_term& t : p.terms())
      fits = fits && t.coefficient < most_elements && t.coefficient > -most_elements &&
             t.count < detail::extent_term::max_factors;
    if (!fits || !p.ok()) node_import::fail("an extent that is too long to compute with: " + std::string(text));
  }

  static constexpr std::size_t most_name = 40;
  // What a node and a name of an extent take, and how long: a name is compared with all before it.
  static constexpr std::uint64_t bytes_of_node = 256, bytes_of_name = 4096;

  graph_data& graph_;
  std::map<std::string, extent> extents_;  // by the text of a dimension
  std::set<std::string> names_;            // that extents have
  std::string file_;
  const model_proto& model_;
  value_table values_;
  const node_import::graph_reader read_inner_ = [this](const graph_proto& g) {
    add_initializers(g);
    for (const node_proto& n : g.nodes) read_node(n);
  };
};

}  // namespace flowgraph::onnx
