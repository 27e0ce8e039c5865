// Asks each op for an equal, cheaper form of its nodes. The rules are the ops' own; this pass knows none by name.
#pragma once
#include "prune.hpp"

namespace flowgraph::passes {

class simplifier {
 public:
  constexpr explicit simplifier(draft& d) : d_(d), g_(d.graph), to_(d.graph.nodes.count) {
    const int n = g_.nodes.count;
    for (int i = 0; i < n; ++i) {
      if (changed != 0) rewire(g_.nodes.data[i]);
      if (g_.nodes.data[i].op->is(trait::has_simplify) && g_.nodes.data[i].n_control == 0 &&
          g_.nodes.data[i].outputs == 1)
        ask(i);
    }
    if (changed == 0) return;
    for (const region& r : g_.regions)
      for (int k = r.results; k < r.results + r.n_results; ++k) g_.edges[k] = replaced(g_.edges[k]);
    for (int& f : d.fetches) f = replaced(f);
    if (g_.nodes.count > n) prune(d, true);  // new nodes stand behind their readers
  }

  int changed = 0;

 private:
  constexpr int replaced(int id) const { return id < to_.count && to_.data[id] != 0 ? to_.data[id] - 1 : id; }

  constexpr void rewire(const node& x) {
    const int *to = to_.data, n = to_.count;
    for (int *e = g_.edges.data + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
      if (*e < n && to[*e] != 0) *e = to[*e] - 1;
  }

  constexpr void ask(int i) {
    const int before = g_.nodes.count;
    g_.current_region = g_.nodes.data[i].region, g_.device = g_.nodes.data[i].device;
    rewriter r(g_, i);
    int found = g_.nodes.data[i].op->simplify(r);
    if (found == rewriter::keep) return;
    // A new node may have a cheaper form itself.
    while (found >= before && g_.nodes[found].op->is(trait::has_simplify)) {
      rewriter again(g_, found);
      const int next = g_.nodes[found].op->simplify(again);
      if (next == rewriter::keep) break;
      found = next;
    }
    while (d_.model.count < g_.nodes.count) d_.model.push(d_.model[i]);
    // A read of state that changes within the step stays where it is: later it would see another value.
    if (g_.nodes[found].op->id == ops::variable::id && written(found)) return;
    to_[i] = found + 1;
    ++changed;
  }

  constexpr bool written(int variable) {
    if (written_.count == 0) {
      written_ = detail::vec<bool>(to_.count);
      const graph_view g = g_.view();
      for (int i = 0; i < to_.count; ++i)
        if (g.nodes[i].op->is(trait::writes_operand)) written_[outside(g, g.inputs(i)[0])] = true;
    }
    return written_[variable];
  }

  draft& d_;
  graph_data& g_;
  detail::vec<int> to_;  // of each node: what stands for it + 1; 0: itself
  detail::vec<bool> written_;
};

// Returns how many nodes were replaced. They are dead now.
constexpr int simplify(draft& d) { return simplifier(d).changed; }

}  // namespace flowgraph::passes
