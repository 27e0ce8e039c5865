// Asks each op for an equal, cheaper form of its nodes. The rules are the ops' own; this pass knows none by name.
#pragma once
#include "prune.hpp"

namespace flowgraph::passes {

class simplifier {
 public:
  constexpr explicit simplifier(draft& d) : d_(d), g_(d.graph), to_(d.graph.nodes.count) {
    const int n = g_.nodes.count;
    for (int i = 0; i < n; ++i) {
      if (changed != 0) rewire(i);
      if (static_cast<unsigned>(g_.nodes.data[i].op->traits) & bit::has_simplify) ask(i);
    }
    if (changed == 0) return;
    for (const region& r : g_.regions)
      for (int k = r.results; k < r.results + r.n_results; ++k) g_.edges[k] = replaced(g_.edges[k]);
    for (int& f : d.fetches) f = replaced(f);
    if (!made_for_.empty()) reorder();
  }

  int changed = 0;

 private:
  constexpr int replaced(int id) const { return id < to_.count && to_.data[id] != 0 ? to_.data[id] - 1 : id; }

  constexpr void rewire(int i) {
    const node& x = g_.nodes.data[i];
    const int *to = to_.data, n = to_.count;
    for (int *e = g_.edges.data + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
      if (*e < n && to[*e] != 0) *e = to[*e] - 1;
  }

  constexpr void ask(int i) {
    const int before = g_.nodes.count;
    if (g_.nodes.data[i].n_control != 0 || g_.nodes.data[i].outputs != 1) return;
    g_.current_region = g_.nodes.data[i].region, g_.device = g_.nodes.data[i].device;
    rewriter r(g_, i);
    int found = g_.nodes.data[i].op->simplify(r);
    if (found == rewriter::keep && g_.nodes.count == before) return;
    // A new node may have a cheaper form itself.
    while (found >= before && g_.nodes[found].op->is(trait::has_simplify)) {
      rewriter again(g_, found);
      const int next = g_.nodes[found].op->simplify(again);
      if (next == rewriter::keep) break;
      found = next;
    }
    // A read of state that changes within the step stays where it is: later it would see another value.
    if (found == rewriter::keep || is_changing_state(found)) {
      g_.nodes.count = before;
      return;
    }
    for (; d_.model.count < g_.nodes.count; made_for_.push(i)) d_.model.push(d_.model[i]);
    to_[i] = found + 1;
    ++changed;
  }

  // New nodes move from the end to where the node stands that they were made for.
  constexpr void reorder() {
    const int old = to_.count, n = g_.nodes.count;
    detail::vec<int> rank(n), model(n);
    detail::vec<node> nodes(n);
    int at = 0, made = old;
    for (int i = 0; i < old; ++i) {
      while (made < n && made_for_[made - old] == i) rank[made++] = at++;
      rank[i] = at++;
    }
    for (int i = 0; i < n; ++i) nodes[rank[i]] = g_.nodes[i], model[rank[i]] = d_.model[i];
    g_.nodes = static_cast<detail::vec<node>&&>(nodes);
    d_.model = static_cast<detail::vec<int>&&>(model);
    for (int& e : g_.edges) e = rank[e];
    for (region& r : g_.regions)
      if (r.owner >= 0) r.owner = rank[r.owner];
    for (int& f : d_.fetches) f = rank[f];
    for (int& f : d_.feeds) f = rank[f];
  }

  constexpr bool is_changing_state(int id) {
    const graph_view g = g_.view();
    const int source = outside(g, id);
    if (g.nodes[source].op->id != ops::variable::id) return false;
    if (written_.count == 0) {
      written_ = detail::vec<bool>(to_.count);
      for (int i = 0; i < to_.count; ++i)
        if (g.nodes[i].op->is(trait::writes_operand)) written_[outside(g, g.inputs(i)[0])] = true;
    }
    return written_[source];
  }

  draft& d_;
  graph_data& g_;
  detail::vec<int> to_;        // of each node: what stands for it + 1; 0: itself
  detail::vec<int> made_for_;  // of each new node: the node it was made for
  detail::vec<bool> written_;  // of each node: a variable that the step updates
};

// Returns how many nodes were replaced. They are dead now.
constexpr int simplify(draft& d) { return simplifier(d).changed; }

}  // namespace flowgraph::passes
