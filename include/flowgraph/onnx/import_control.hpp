// How If and Loop are read: as the branches and loops that cond and while_loop make.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph/graph/node_text.hpp>
#include <flowgraph/ops/comparison.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/rows.hpp>
#include "node_import.hpp"

namespace flowgraph::onnx {

// ONNX has conditions and counts of one element, with an axis or without.
inline ref as_scalar(ref x, dtype type, const std::string& what) {
  const extents e = x.shape();
  bool one = x.type() == type;
  for (int i = 0; i < e.rank; ++i) one = one && e[i] == 1;
  if (!one) node_import::fail(what + " must be one " + (type == dtype::boolean ? "truth value" : "number"));
  return node_import::reshape(x, {});
}
inline std::string type_text(node_import& n, int id) {
  const node& x = n.graph.nodes[id];
  return detail::type_text_of(n.graph.view(), x.type, x.shape);
}

// The k-th result of an owner of regions that has n of them.
inline ref result_of(graph_data& g, int owner, int k, int n) { return {&g, n == 1 ? owner : owner + 1 + k}; }

inline void import_if(node_import& n) {
  const graph_proto* branches[] = {&n.inner_graph("then_branch"), &n.inner_graph("else_branch")};
  const ref which = as_scalar(n.in(0), dtype::boolean, "the condition");
  const int first = n.graph.reserve_regions(2), count = n.results();
  std::vector<int> results[2];
  for (std::size_t k = 0; k < 2; ++k) {
    if (static_cast<int>(branches[k]->outputs.size()) != count || count == 0 || count > most_variables)
      node_import::fail("a branch must give as many values as the node has results", problem::file_malformed);
    n.graph.enter_region(first + static_cast<int>(k));
    n.fill_region(*branches[k], {}, [&](const auto& output) {
      for (std::size_t i = 0; i < branches[k]->outputs.size(); ++i)
        results[k].push_back(n.table.node(branches[k]->outputs[i].name, output(i)).id);
      return results[k];
    });
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    const std::string then = type_text(n, results[0][i]), otherwise = type_text(n, results[1][i]);
    if (then != otherwise)
      node_import::fail("its branches must give the same types: " + then + " and " + otherwise,
                        problem::branch_results);
  }
  const auto words = detail::words_of(ops::control_attrs{-1, 0, 0});
  const int id =
      n.graph.append_owner(op_def_of<ops::cond>, results[1].data(), count, first, 2, &which.id, 1, words.w, 3);
  for (int k = 0; k < count; ++k) n.give(k, result_of(n.graph, id, k, count));
}

// A loop over (turn, go_on, variables..., arrays...), where an array gets one row in every turn.
class loop_import {
 public:
  explicit loop_import(node_import& n) : n_(n), body_(n.inner_graph("body")) {}

  void read() {
    const std::size_t carried = n_.operands() < 2 ? 0 : static_cast<std::size_t>(n_.operands()) - 2;
    if (n_.operands() < 2 || body_.inputs.size() != 2 + carried || body_.outputs.size() < 1 + carried ||
        static_cast<std::size_t>(n_.results()) > body_.outputs.size() - 1 ||
        body_.outputs.size() > static_cast<std::size_t>(most_variables))
      node_import::fail("its operands, results and body don't fit together", problem::file_malformed);
    read_limit();
    initial_ = {n_.table.scalar(dtype::int64, 0).id, n_.has(1) ? as_scalar(n_.in(1), dtype::boolean, "the condition").id
                                                               : n_.table.scalar(dtype::boolean, 1).id};
    for (std::size_t k = 0; k < carried; ++k) initial_.push_back(n_.in(static_cast<int>(2 + k)).id);
    const int first = n_.graph.reserve_regions(2);
    read_body(first + 1, carried);
    write_condition(first);
    for (const extents& e : arrays_) {
      const dtype type = n_.graph.nodes[results_[initial_.size()]].type;
      initial_.push_back(n_.table.filled(type, e, 0).id);
    }
    const int count = static_cast<int>(initial_.size());
    const auto words = detail::words_of(ops::control_attrs{most_, 0, 0});
    const int id = n_.graph.append_owner(op_def_of<ops::while_loop>, initial_.data(), count, first, 2, initial_.data(),
                                         count, words.w, 3);
    for (int k = 0; k < n_.results(); ++k) n_.give(k, result_of(n_.graph, id, 2 + k, count));
  }

 private:
  // How many turns there are at most: nothing, a node, or an extent.
  void read_limit() {
    if (!n_.has(0)) return;
    const auto* known = n_.known(0);
    if (known == nullptr || known->size() != 1) {
      limit_ = as_scalar(n_.in(0), dtype::int64, "the number of turns");
      return;
    }
    const known_number turns = (*known)[0];
    if (!turns.named && (turns.n < 0 || turns.n > most_elements)) {  // exporters write the largest number for "any"
      if (turns.n < 0) node_import::fail("a negative number of turns");
      return;
    }
    turns_ = {1, {turns.n}};
    if (!turns.named) most_ = turns.n;
    limit_ = n_.graph.at_top([&] { return n_.table.extent_node(turns.n); });
  }
  void read_body(int region, std::size_t carried) {
    n_.graph.enter_region(region);
    std::vector<int> given;
    for (std::size_t k = 0; k < initial_.size(); ++k) given.push_back(argument(static_cast<int>(k), initial_[k]));
    n_.fill_region(body_, given, [&](const auto& output) {
      const auto node = [&](std::size_t k) { return n_.table.node(body_.outputs[k].name, output(k)); };
      results_ = {(ref{&n_.graph, given[0]} + 1.0).id};
      always_ = goes_on(output(0), given[1]);
      results_.push_back(as_scalar(node(0), dtype::boolean, "the condition").id);
      for (std::size_t k = 1; k <= carried; ++k) {
        results_.push_back(node(k).id);
        const std::string before = type_text(n_, initial_[k + 1]), after = type_text(n_, results_.back());
        if (before != after)
          node_import::fail(
              "its variable \"" + body_.inputs[k + 1].name + "\" must keep its type: " + before + " became " + after,
              problem::loop_variables);
      }
      for (std::size_t k = carried + 1; k < body_.outputs.size(); ++k) collect(node(k), given[0]);
      return results_;
    });
  }
  // Neither the loop's own condition nor what the body says of the next turn ever ends it.
  bool goes_on(imported_value& next, int argument) {
    const auto is_true = [&](const imported_value& v) {
      return v.tensor != nullptr && v.tensor->type() == dtype::boolean && v.tensor->data.size() == 1 &&
             v.tensor->data[0] != 0;
    };
    return (next.node == argument || is_true(next)) && (!n_.has(1) || is_true(n_.imported(1)));
  }
  void collect(ref row, int turn) {
    if (!always_ || turns_.rank == 0)
      node_import::fail("what it collects has a row for every turn: how many must be known when the model is imported");
    extents e = turns_;
    if (row.rank() == max_rank) node_import::fail("a tensor has at most 8 axes", problem::rank_too_high);
    for (int i = 0; i < row.rank(); ++i) e.push(row.shape()[i]);
    const int place = static_cast<int>(initial_.size() + arrays_.size());
    arrays_.push_back(e);
    const ref array{&n_.graph, n_.graph.append_argument(place, n_.graph.intern_shape(e), row.type())};
    results_.push_back(emit<ops::set_rows>(array, ref{&n_.graph, turn}, row).id);
  }
  void write_condition(int region) {
    n_.graph.enter_region(region);
    const ref turn{&n_.graph, argument(0, initial_[0])};
    ref more = limit_ ? emit<ops::less>(turn, limit_) : ref{};
    if (!always_ || !limit_) {
      const ref said{&n_.graph, argument(1, initial_[1])};
      more = more ? emit<ops::logical_and>(more, said) : said;
    }
    n_.graph.close_region(&more.id, 1);
  }
  int argument(int k, int like) {
    const node& x = n_.graph.nodes[like];
    return n_.graph.append_argument(k, x.shape, x.type);
  }

  node_import& n_;
  const graph_proto& body_;
  ref limit_;
  extents turns_;  // one extent, where it is known
  std::int64_t most_ = -1;
  bool always_ = false;
  std::vector<int> initial_, results_;
  std::vector<extents> arrays_;
};
inline void import_loop(node_import& n) { loop_import(n).read(); }

inline constexpr import_rule control_import_rules[] = {
    {"If", import_if},
    {"Loop", import_loop},
};

}  // namespace flowgraph::onnx
