// One node of an ONNX file on its way into a graph: what a rule reads of it, checked, and what it says. Values that
// shapes are computed with are known while the file is read, as numbers or as names of extents: a model made of
// Shape, Gather and Concat keeps its batch a named extent.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/language/init.hpp>
#include <flowgraph/ops/binary.hpp>
#include <flowgraph/ops/concat.hpp>
#include <flowgraph/ops/size.hpp>
#include <flowgraph/ops/transpose.hpp>
#include "decode.hpp"

namespace flowgraph::onnx {

// A whole number that shapes are computed with: n itself, or the extent n that has a name.
struct known_number {
  std::int64_t n = 0;
  bool named = false;

  extent as_extent() const { return n; }
  bool operator==(const known_number&) const = default;
};

// A value of the file, on as many ways as it is known: a node, elements that became no node yet, numbers of shapes.
struct imported_value {
  int node = -1;
  const tensor_proto* tensor = nullptr;
  bool weight = false;  // an initialiser: a variable once it is used as a tensor
  std::optional<std::vector<known_number>> known{};
  int known_rank = 1;  // 0: a scalar
  dtype known_type = dtype::int64;
};

// A reason why a node can't be read; whoever catches it knows the node.
struct not_importable {
  problem why;
  std::string reason;
};

// The values by their names, and the tensors that became nodes. A graph within another one sees all that the outer one
// has so far, and has names of its own.
class value_table {
 public:
  value_table(graph_data& g, const graph_proto& from, detail::memory_budget& b) : graph(g), budget(b), from_(from) {}

  graph_data& graph;
  detail::memory_budget& budget;

  imported_value* find(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return &found->second;
    return nullptr;
  }
  // False: the name is taken.
  bool add(const std::string& name, imported_value v) { return scopes_.back().emplace(name, std::move(v)).second; }
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  // The value as a node. What nobody computed stands outside all branches and loops: others may need it, too.
  ref node(const std::string& name, imported_value& v) {
    if (v.node < 0)
      v.node = v.tensor != nullptr ? stored(name, v, {}, true).id : graph.at_top([&] { return numbers(v).id; });
    return {&graph, v.node};
  }
  // A weight whose axes come in another order, or that no optimizer may touch; what is computed is transposed.
  ref arranged(const std::string& name, imported_value& v, const std::vector<int>& perm, bool trainable) {
    if (v.tensor != nullptr && v.weight) return stored(name, v, perm, trainable);
    const ref x = node(name, v);
    if (perm.empty()) return x;
    ops::permutation p{};
    for (std::size_t i = 0; i < perm.size(); ++i) p.set(static_cast<int>(i), perm[i]);
    return emit<ops::transpose>(p, x);
  }
  ref scalar(dtype type, double value) { return filled(type, {}, value); }
  // Of all-equal elements; extents may have names.
  ref filled(dtype type, const extents& shape, double value) {
    return filled_with(type, shape, ops::number_word(type, value));
  }
  // The same from a word of a constant: integers as they are.
  ref filled_with(dtype type, const extents& shape, std::int64_t word) {
    return {&graph, graph.append(op_def_of<ops::constant>, graph.intern_shape(shape), type, nullptr, 0, &word, 1)};
  }
  // An extent as an int64: a name's number from an input that has it, others as they are computed from names.
  ref extent_node(extent e) {
    return e >= 0 ? scalar(dtype::int64, static_cast<double>(e)) : extent_node(graph.symbols.text(e));
  }

 private:
  // Once, however many names the file has for it.
  ref stored(const std::string& name, const imported_value& v, const std::vector<int>& perm, bool trainable) {
    const auto [place, is_new] = arranged_.emplace(std::tuple(v.tensor, perm, trainable), -1);
    if (is_new) place->second = graph.at_top([&] { return constant(name, v, perm, trainable).id; });
    return {&graph, place->second};
  }
  ref extent_node(std::string_view text) {
    const std::string copy(text);  // the graph's texts move when others join them
    ref sum;
    const detail::extent_polynomial p(copy);
    for (const detail::extent_term& t : p.terms()) {
      if (t.coefficient == 0) continue;
      ref product;
      for (int i = 0; i < t.count; ++i) {
        const ref factor = extent_atom(t.factors[i].view());
        product = product ? product * factor : factor;
      }
      const auto coefficient = static_cast<double>(t.coefficient);
      product = !product ? scalar(dtype::int64, coefficient) : t.coefficient != 1 ? product * coefficient : product;
      sum = sum ? sum + product : product;
    }
    return sum;
  }
  ref extent_atom(std::string_view text) {
    if (text[0] == '(') {  // (...)/n
      const auto close = text.rfind(")/");
      double by = 0;
      for (const char c : text.substr(close + 2)) by = by * 10 + (c - '0');
      const ref inner = extent_node(text.substr(1, close - 1));
      return emit<ops::floordiv>(inner, scalar(dtype::int64, by));
    }
    const extent e = graph.symbols.intern(text);
    for (const value_proto& in : from_.inputs) {
      const imported_value* v = find(in.name);
      if (v == nullptr || v->node < 0) continue;
      const extents shape = graph.shape_of(v->node);
      for (int axis = 0; axis < shape.rank; ++axis)
        if (shape[axis] == e)
          return emit_as<ops::size>({}, dtype::int64, {std::int64_t{1} << axis}, ref{&graph, v->node});
    }
    throw not_importable{problem::onnx_unsupported, "no input has the extent \"" + std::string(text) + "\""};
  }

  static constexpr std::int64_t most_words = std::int64_t{1} << 30;

  // A variable, a literal or a constant.
  ref constant(const std::string& name, const imported_value& v, const std::vector<int>& perm, bool trainable) {
    const tensor_proto& t = *v.tensor;
    if (t.type() == dtype::none)
      throw not_importable{problem::onnx_unsupported, "tensor \"" + name + "\" has the element type " +
                                                          std::to_string(t.code) +
                                                          " of ONNX, which no tensor here has"};
    extents shape;
    for (std::size_t i = 0; i < t.dims.size(); ++i)
      shape.push(t.dims[perm.empty() ? i : static_cast<std::size_t>(perm[i])]);
    if (graph.words.size() + count_elements(t.dims) > most_words)
      throw not_importable{problem::onnx_unsupported, "a graph holds at most 2^30 elements of weights"};
    budget.spend(static_cast<std::uint64_t>(count_elements(t.dims)) * sizeof(std::int64_t));
    detail::vec<std::int64_t> words;
    const bool variable = v.weight && is_floating(t.type()) && shape.rank > 0;
    if (variable) {
      const auto block =
          detail::words_of(ops::variable::attrs{static_cast<std::int64_t>(initializer::values), 0, 0, trainable});
      words.append(block.w, detail::attr_words<ops::variable::attrs>);
    }
    append_words(t, perm, words);
    const int id = graph.append(variable ? op_def_of<ops::variable> : op_def_of<ops::literal>,
                                graph.intern_shape(shape), t.type(), nullptr, 0, words.begin(), words.size());
    if (variable) graph.name(id, name);
    return {&graph, id};
  }
  static void append_words(const tensor_proto& t, const std::vector<int>& perm, detail::vec<std::int64_t>& words) {
    const std::size_t rank = t.dims.size(), count = static_cast<std::size_t>(count_elements(t.dims));
    std::vector<std::size_t> stride(rank, 1), index(rank);
    for (std::size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * static_cast<std::size_t>(t.dims[i]);
    detail::with_type(t.type(), [&]<class T>(T) {
      std::size_t at = 0;
      for (std::size_t k = 0; k < count; ++k) {
        T x;
        std::memcpy(static_cast<void*>(&x), t.data.data() + at * sizeof(T), sizeof(T));
        words.push(ops::literal_word(x));
        for (std::size_t i = rank; i-- > 0;) {
          const std::size_t axis = perm.empty() ? i : static_cast<std::size_t>(perm[i]);
          at += stride[axis];
          if (++index[i] < static_cast<std::size_t>(t.dims[axis])) break;
          at -= index[i] * stride[axis];
          index[i] = 0;
        }
      }
    });
  }
  ref numbers(const imported_value& v) {
    const std::vector<known_number>& all = *v.known;
    bool named = false;
    for (const known_number& n : all) named = named || n.named;
    const extents shape = v.known_rank == 0 ? extents{} : extents{1, {static_cast<extent>(all.size())}};
    if (!named) {
      detail::vec<std::int64_t> words;
      for (const known_number& n : all) words.push(n.n);
      return {&graph, graph.append(op_def_of<ops::literal>, graph.intern_shape(shape), v.known_type, nullptr, 0,
                                   words.begin(), words.size())};
    }
    std::vector<int> parts;
    for (const known_number& n : all) {
      ref x = n.named ? extent_node(n.n) : scalar(dtype::int64, static_cast<double>(n.n));
      if (v.known_type != dtype::int64) x = emit_as<ops::cast>({}, v.known_type, x);
      if (v.known_rank == 0) return x;
      parts.push_back(emit_as<ops::reshape>({1, {1}}, v.known_type, x).id);
    }
    return joined(graph, parts, 0);
  }

 public:
  // Any number of parts along an axis; an op takes a limited number of operands.
  static ref joined(graph_data& g, std::vector<int> parts, std::int64_t axis) {
    constexpr std::size_t most = inference::max_outputs;
    while (parts.size() > 1) {
      std::vector<int> fewer;
      for (std::size_t first = 0; first < parts.size(); first += most) {
        const int n = static_cast<int>(std::min(most, parts.size() - first));
        fewer.push_back(n == 1 ? parts[first]
                               : detail::append_inferred(g, op_def_of<ops::concat>, parts.data() + first, n, &axis, 1));
      }
      parts = std::move(fewer);
    }
    return {&g, parts[0]};
  }

 private:
  const graph_proto& from_;
  std::deque<std::map<std::string, imported_value>> scopes_{1};  // the innermost last; their values stay where they are
  std::map<std::tuple<const tensor_proto*, std::vector<int>, bool>, int> arranged_;
};

// Results of a branch or variables of a loop.
inline constexpr int most_variables = 200;

class node_import {
 public:
  // Adds the nodes of a graph that lies within a node.
  using graph_reader = std::function<void(const graph_proto&)>;

  node_import(value_table& values, const node_proto& n, std::int64_t opset_version, const graph_reader& reader)
      : table(values),
        graph(values.graph),
        opset(opset_version),
        node_(n),
        read_graph_(reader) {}

  value_table& table;
  graph_data& graph;
  const std::int64_t opset;

  [[noreturn]] static void fail(const std::string& reason, problem why = problem::onnx_unsupported) {
    throw not_importable{why, reason};
  }

  // Operands.
  int operands() const { return static_cast<int>(node_.inputs.size()); }
  bool has(int k) const { return k < operands() && !node_.inputs[static_cast<std::size_t>(k)].empty(); }
  ref in(int k) { return table.node(name(k), value(k)); }
  // Of an operand that need not become a node.
  extents in_shape(int k) {
    imported_value& v = value(k);
    if (v.node >= 0 || v.tensor == nullptr) return in(k).shape();
    extents e;
    for (const std::int64_t d : v.tensor->dims) e.push(d);
    return e;
  }
  ref arranged(int k, const std::vector<int>& perm, bool trainable = true) {
    return table.arranged(name(k), value(k), perm, trainable);
  }
  ref floating(int k) {
    const ref x = in(k);
    if (!is_floating(x.type())) fail("expected a floating-point operand " + std::to_string(k));
    return x;
  }
  // As far as shapes need it: numbers and names; nothing where it is computed when the model runs.
  const std::vector<known_number>* known(int k) {
    imported_value& v = value(k);
    if (!v.known && v.tensor != nullptr) v.known = read_numbers(v);
    return v.known ? &*v.known : nullptr;
  }
  const imported_value& imported(int k) { return value(k); }
  // Texts of extents are cut off where they grow too long.
  bool can_name(const known_number& k) const {
    return !k.named || graph.symbols.text(k.n).size() < static_cast<std::size_t>(detail::max_extent_text);
  }
  int known_rank(int k) { return value(k).known_rank; }
  dtype known_type(int k) { return value(k).known_type; }
  const std::vector<known_number>& must_know(int k, std::string_view what) {
    const auto* all = known(k);
    if (all == nullptr) fail(std::string(what) + " must be known when the model is imported");
    return *all;
  }
  std::vector<std::int64_t> numbers(int k, std::string_view what) {
    std::vector<std::int64_t> all;
    for (const known_number& n : must_know(k, what)) {
      if (n.named) fail(std::string(what) + " must be numbers");
      all.push_back(n.n);
    }
    return all;
  }
  // A single number of any type, such as a bound or a value to pad with.
  double number(int k, std::string_view what) {
    double result = 0;
    with_number(k, what, [&](auto x) { result = detail::convert<double>(x); });
    return result;
  }
  // As a word of a constant of this type.
  std::int64_t number_word(int k, dtype type, std::string_view what) {
    std::int64_t word = 0;
    with_number(k, what, [&](auto x) {
      detail::with_type(type, [&]<class T>(T) { word = ops::literal_word(detail::convert<T>(x)); });
    });
    return word;
  }

  // f(x) of the one number that input k is, in its own type.
  template <class F>
  void with_number(int k, std::string_view what, const F& f) {
    const imported_value& v = value(k);
    if (v.tensor == nullptr || count_elements(v.tensor->dims) != 1 || v.tensor->type() == dtype::none)
      fail(std::string(what) + " must be one number that is known when the model is imported");
    detail::with_type(v.tensor->type(), [&]<class T>(T) {
      T x;
      std::memcpy(static_cast<void*>(&x), v.tensor->data.data(), sizeof(T));
      f(x);
    });
  }

  // Attributes.
  const attribute_proto* attribute(std::string_view name) const {
    for (const attribute_proto& a : node_.attributes)
      if (a.name == name) return &a;
    return nullptr;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const attribute_proto* a = attribute(name);
    return a == nullptr ? otherwise : a->i;
  }
  // Numbers of attributes are floats, and so are those that stand for them.
  double number(std::string_view name, double otherwise) const {
    const attribute_proto* a = attribute(name);
    return static_cast<double>(a == nullptr ? static_cast<float>(otherwise) : a->f);
  }
  std::string text(std::string_view name, std::string_view otherwise) const {
    const attribute_proto* a = attribute(name);
    return a == nullptr ? std::string(otherwise) : a->s;
  }
  const graph_proto& inner_graph(std::string_view name) const {
    const attribute_proto* a = attribute(name);
    if (a == nullptr || !a->g) fail("has no graph \"" + std::string(name) + "\"", problem::file_malformed);
    return *a->g;
  }
  // As many as there should be, or the same number that often.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t count, std::int64_t otherwise) const {
    const attribute_proto* a = attribute(name);
    if (a == nullptr) return std::vector<std::int64_t>(count, otherwise);
    if (a->ints.size() != count)
      fail(std::string(name) + ": expected " + std::to_string(count) + " numbers, got " +
           std::to_string(a->ints.size()));
    for (const std::int64_t i : a->ints)
      if (i < 0 || i > most_elements) fail(std::string(name) + ": " + std::to_string(i) + " is out of range");
    return a->ints;
  }

  // An axis from 0 on.
  static int axis_in(std::int64_t axis, int rank) {
    if (axis < -rank || axis >= rank)
      fail("axis " + std::to_string(axis) + " is out of range for " + std::to_string(rank) + " axes",
           problem::axis_out_of_range);
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  // The bits of the axes; of none, of all.
  static std::int64_t mask_of(const std::vector<std::int64_t>& axes, int rank) {
    std::int64_t mask = 0;
    for (const std::int64_t a : axes) {
      const std::int64_t bit = std::int64_t{1} << axis_in(a, rank);
      if (mask & bit) fail("axis " + std::to_string(a) + " is named twice", problem::axis_twice);
      mask |= bit;
    }
    return axes.empty() ? (std::int64_t{1} << rank) - 1 : mask;
  }

  // Parts of rules.
  ref scalar(ref like, double v) { return table.scalar(like.type(), v); }
  static ref reshape(ref x, const extents& to) { return x.shape() == to ? x : emit_as<ops::reshape>(to, x.type(), x); }
  static ref cast(ref x, dtype to) { return x.type() == to ? x : emit_as<ops::cast>(x.shape(), to, x); }
  static ref transpose(ref x, const std::vector<int>& perm) {
    ops::permutation p{};
    for (std::size_t i = 0; i < perm.size(); ++i) p.set(static_cast<int>(i), perm[i]);
    return emit<ops::transpose>(p, x);
  }
  extent extent_of(const known_number& k) const {
    if (!k.named && (k.n < 0 || k.n > most_elements)) fail("an extent of " + std::to_string(k.n));
    return k.n;
  }
  extents extents_of(const std::vector<known_number>& all) const {
    if (all.size() > static_cast<std::size_t>(max_rank)) fail("a tensor has at most 8 axes", problem::rank_too_high);
    extents e;
    for (const known_number& k : all) e.push(extent_of(k));
    return e;
  }

  // Results.
  int results() const { return static_cast<int>(node_.outputs.size()); }
  bool wants(int k) const { return k < results() && !node_.outputs[static_cast<std::size_t>(k)].empty(); }
  void give(ref x) { give(0, x); }
  void give(int k, ref x) { give(k, imported_value{.node = x.id}); }
  void give(int k, imported_value v) {
    if (!wants(k)) return;
    const std::string& out = node_.outputs[static_cast<std::size_t>(k)];
    if (v.known) table.budget.spend(v.known->size() * bytes_of_number);
    if (v.node >= 0 && graph.current_region == 0) graph.name(v.node, out);  // nobody can ask for what lies inside
    if (!table.add(out, std::move(v))) fail("the name \"" + out + "\" is taken", problem::file_malformed);
  }
  void give_known(std::vector<known_number> all, int rank, dtype type = dtype::int64) {
    give(0, imported_value{.known = std::move(all), .known_rank = rank, .known_type = type});
  }
  void refuse_result(int k, std::string_view what) const {
    if (wants(k)) fail("its result " + std::to_string(k) + ", " + std::string(what) + ", can't be imported");
  }
  // Adds the nodes of a graph within this node, which is given these nodes, to the region that is open, and closes it
  // with results(output): output(k) is the graph's k-th.
  template <class Results>
  void fill_region(const graph_proto& g, const std::vector<int>& given, const Results& results) {
    table.open_scope();
    for (std::size_t k = 0; k < given.size(); ++k)
      if (!table.add(g.inputs[k].name, {.node = given[k]}))
        fail("its graph has two inputs \"" + g.inputs[k].name + "\"", problem::file_malformed);
    read_graph_(g);
    const std::vector<int> ids = results([&](std::size_t k) -> imported_value& {
      imported_value* v = table.find(g.outputs[k].name);
      if (v == nullptr)
        fail("the output \"" + g.outputs[k].name + "\" of its graph is given by no node", problem::file_malformed);
      return *v;
    });
    graph.close_region(ids.data(), static_cast<int>(ids.size()));
    table.close_scope();
  }
  // A value under another name.
  void pass_on(int k) {
    imported_value v = value(k);
    give(0, std::move(v));
  }

  // What a number that is known may take while the next one is computed of it.
  static constexpr std::uint64_t bytes_of_number = 256;

 private:
  const std::string& name(int k) const {
    if (!has(k)) fail("operand " + std::to_string(k) + " is missing", problem::file_malformed);
    return node_.inputs[static_cast<std::size_t>(k)];
  }
  imported_value& value(int k) {
    imported_value* v = table.find(name(k));
    if (v == nullptr)
      fail("its operand \"" + name(k) + "\" is given by no input, initialiser or node before it",
           problem::file_malformed);
    return *v;
  }
  // Of a small vector of integers.
  static std::optional<std::vector<known_number>> read_numbers(imported_value& v) {
    const tensor_proto& t = *v.tensor;
    const std::int64_t count = count_elements(t.dims);
    if ((t.type() != dtype::int64 && t.type() != dtype::int32) || t.dims.size() > 1 || count > 64) return {};
    std::vector<known_number> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      std::int64_t wide = 0;
      std::int32_t narrow = 0;
      if (t.type() == dtype::int64)
        std::memcpy(&wide, t.data.data() + i * sizeof wide, sizeof wide);
      else
        std::memcpy(&narrow, t.data.data() + i * sizeof narrow, sizeof narrow);
      all.push_back({t.type() == dtype::int64 ? wide : narrow, false});
    }
    v.known_rank = static_cast<int>(t.dims.size());
    v.known_type = t.type();
    return all;
  }

  const node_proto& node_;
  const graph_reader& read_graph_;
};

using import_function = void (*)(node_import&);
struct import_rule {
  std::string_view op;
  import_function read;
};

}  // namespace flowgraph::onnx
