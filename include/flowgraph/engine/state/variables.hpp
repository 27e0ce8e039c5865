// The variables of a session, or of a plan that outlives one: those that its graph declares, by their node, in a table
// that it may share with others.
#pragma once
#include <cstdint>
#include <mutex>
#include <span>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/by_node.hpp>
#include "variable_table.hpp"

namespace flowgraph::detail {

// A variable, as a graph declares it.
struct declared_variable {
  int node;
  variable_state* variable;
};

template <class Tag = void>
class basic_variable_store {
 public:
  // The table outlives it. named: every variable must have a name.
  basic_variable_store(variable_table& t, bool named) : table(t), room(t.room), named_(named) {}

  // Of a graph that was not given to add_new, and will be gone.
  variable_state& of_other_graph(const graph_view& g, int node, std::uint64_t seed) {
    list<variable_state*> found;
    table.find(g, std::span<const int>(&node, 1), seed, true, found);
    return *found[0];
  }

  // Finds or makes the variables that the graph has and the store has not: a graph may grow between steps.
  void add_new(const graph_view& g, std::uint64_t seed) {
    const std::lock_guard lock(growing_);
    if (seen_ == g.size()) return;
    list<int> nodes;
    for (int i = seen_; i < g.size(); ++i)
      if (g.nodes[i].op->id == ops::variable::id) nodes.push_back(i);
    if (!nodes.empty()) {
      list<variable_state*> found;
      table.find(g, nodes, seed, named_, found);
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        by_node_.add(nodes[k], found[k]);
        all_.push_back({nodes[k], found[k]});
      }
    }
    seen_ = g.size();
  }
  // f(all variables, in the order of their nodes) while nobody changes any of them; or, if it writes, uses any.
  template <class F>
  auto with_all(bool writes, const F& f) {
    list<declared_variable> everything;
    {
      const std::lock_guard lock(growing_);
      everything = all_;
    }
    return with(everything, writes, f);
  }
  // The same with those of the table, which are of no graph in particular.
  template <class F>
  auto with_table(bool writes, const F& f) {
    list<declared_variable> everything;
    for (variable_state* v : table.all()) everything.push_back({-1, v});
    return with(everything, writes, f);
  }
  template <class F>
  auto with(const list<declared_variable>& everything, bool writes, const F& f) {
    list<variable_access> accesses;
    for (const declared_variable& v : everything) add_access(accesses, 0, v.variable, writes);
    const variable_hold hold(room, accesses);
    return f(std::span<const declared_variable>(everything));
  }
  static void begin_again(const graph_view& g, std::span<const declared_variable> all, std::uint64_t seed) {
    for (const declared_variable& v : all) variable_table::begin(g, v.node, *v.variable, seed);
  }

  // Stays where it is.
  variable_state& of_node(int node) {
    const std::lock_guard lock(growing_);
    return *by_node_.at(node);
  }

  variable_table& table;
  waiting_room& room;

 private:
  const bool named_;
  std::mutex growing_;
  int seen_ = 0;
  list<declared_variable> all_;  // in the order of their nodes
  by_node<variable_state*> by_node_;
};
using variable_store = basic_variable_store<>;

}  // namespace flowgraph::detail
