// The backward sweep over the nodes of one region: each node visited once, however much is shared. Ops say their own
// derivative (ops/), and the sweep knows none of them by name; loops and branches are the sweep itself applied to their
// regions, and have it in their hands (differentiate_loop.hpp).
#pragma once
#include <flowgraph/graph/beside.hpp>
#include <flowgraph/ops/comparison.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/rows.hpp>
#include <flowgraph/ops/size.hpp>
#include <flowgraph/ops/stack.hpp>
#include "copy_regions.hpp"

namespace flowgraph::passes {

// What is added up where a value is used more than once. Sparse gradients stay sparse among themselves.
FLOWGRAPH_CONSTEXPR ref accumulate(ref a, ref b) {
  const bool sparse_a = a.is(op_def_of<ops::indexed_slices>), sparse_b = b.is(op_def_of<ops::indexed_slices>);
  if (sparse_a && sparse_b) return ops::join_slices(a, b);
  return emit<ops::add>(a, b);
}

// The same where the sum so far is a dense value of its own: rows are added to it in place.
FLOWGRAPH_CONSTEXPR ref accumulate_densely(ref sum, ref x) {
  if (x.is(op_def_of<ops::indexed_slices>) && ops::names_all(x))
    return emit<ops::add_rows>(sum, x.input(0), x.input(1));
  return emit<ops::add>(sum, x);
}

class differentiator {
 public:
  // Of nodes `lowest` to `size` - 1 that belong to the region.
  constexpr differentiator(graph_data& g, int region, int lowest, int size)
      : g_(g),
        region_(region),
        lowest_(lowest),
        size_(size),
        wanted_(size),
        sums_(size, -1) {}

  // Derivatives by this node are wanted.
  constexpr void want(int x) { wanted_.data[x] = true; }
  // Whatever lies between them and the rest, and carries a derivative, is wanted as well.
  FLOWGRAPH_CONSTEXPR void find_wanted() {
    for (int i = lowest_; i < size_; ++i) {
      const node& x = g_.nodes.data[i];
      if (wanted_.data[i] || x.n_inputs == 0 || x.region != region_ || !(is_floating(x.type) || x.outputs > 1))
        continue;
      const int* in = g_.edges.data + x.inputs;
      for (int k = 0; k < x.n_inputs && !wanted_.data[i]; ++k) wanted_.data[i] = wanted_.data[in[k]];
    }
  }
  constexpr bool wanted(int i) const { return i < size_ && wanted_.data[i]; }
  constexpr void add(int i, ref dy) {
    if (wanted(i)) sums_[i] = sums_[i] < 0 ? dy.id : accumulate({&g_, sums_[i]}, dy).id;
  }
  // -1: none.
  constexpr int sum(int i) const { return i < size_ ? sums_.data[i] : -1; }

  // From the last node to the first.
  FLOWGRAPH_CONSTEXPR void sweep() {
    const source where = g_.where;
    const int scope = g_.scope, device = g_.device;
    asked_ = region_ == 0 && asks_for_devices(g_);  // in a region they go with that
    for (int i = size_ - 1; i >= lowest_; --i)
      if (wanted_.data[i] && g_.nodes.data[i].region == region_) visit(i);
    g_.where = where;
    g_.scope = scope;
    g_.device = device;
  }

 private:
  friend class loop_derivative;

  FLOWGRAPH_CONSTEXPR void visit(int i) {
    const node x = g_.nodes.data[i];
    if (x.n_inputs == 0 || x.op->id == ops::output::id) return;
    const int* dy = sums_.data + i;
    if (x.outputs > 1) {
      ++dy;
      bool any = false;
      for (int k = 0; k < x.outputs; ++k) any = any || dy[k] >= 0;
      if (!any) return;
    } else if (*dy < 0) {
      return;
    }
    bool to_inputs = false;
    const int* in = g_.edges.data + x.inputs;
    for (int k = 0; k < x.n_inputs && !to_inputs; ++k) to_inputs = wanted_.data[in[k]];
    if (!to_inputs || x.op->is(trait::zero_gradient)) return;
    // A derivative belongs where its op does: same line, scope and device.
    g_.where = g_.origins.data[i].where;
    g_.scope = g_.origins.data[i].scope;
    g_.device = asked_ ? beside(g_, i) : x.device;
    if (x.n_regions != 0) {
      const detail::vec<int> given(detail::slice<int>{dy, x.outputs});
      if (x.op->is(trait::iterates))
        differentiate_loop(newest(i), given);
      else
        differentiate_branches(newest(i), given);
    } else if (x.op->is(trait::has_gradient)) {
      gradient_step step(g_, i, dy, sums_.data, wanted_.data, &accumulate);
      x.op->gradient(step);
    } else {
      g_.fail(problem::no_gradient, x.op->name);
    }
  }

  // What stands for an owner since derivatives were first asked for.
  FLOWGRAPH_CONSTEXPR int newest(int owner) const {
    for (int i = owner + 1; i < g_.nodes.count; ++i) {
      const node& x = g_.nodes.data[i];
      if (x.n_regions == 0 || !replaces(x) || g_.edges[x.inputs + x.n_inputs + x.n_control - 1] != owner) continue;
      owner = i;
    }
    return owner;
  }
  constexpr bool replaces(const node& x) const {
    return detail::attrs_from_words<ops::control_attrs>(g_.words.data + x.attrs).replaces != 0;
  }
  // Neither effects nor numbers that are drawn anew in another turn.
  FLOWGRAPH_CONSTEXPR bool is_repeatable(int owner) const {
    for (int i = 0; i < owner; ++i) {
      const node& x = g_.nodes[i];
      if (!(x.op->is(trait::random) || (x.op->is(trait::stateful) && !x.op->is(trait::source)))) continue;
      int r = x.region;
      while (r != 0 && g_.regions[r].owner != owner) r = g_.regions[r].parent;
      if (r != 0) return false;
    }
    return true;
  }
  constexpr int result(int owner, int k) const { return g_.nodes[owner].outputs > 1 ? owner + 1 + k : owner; }
  constexpr int input(int owner, int k) const { return g_.edges[g_.nodes[owner].inputs + k]; }
  constexpr ref at(int id) const { return {&g_, id}; }
  constexpr ref zeros_like(int id) const { return ops::full_like({&g_, id}, 0); }
  FLOWGRAPH_CONSTEXPR ref zeros(int shape, dtype type) const {
    const auto block = detail::words_of(ops::constant::attrs{0});
    return {&g_, g_.append(op_def_of<ops::constant>, shape, type, nullptr, 0, block.w, 1)};
  }

  FLOWGRAPH_CONSTEXPR ref count_from(std::int64_t value) const {
    const auto block = detail::words_of(ops::constant::attrs{value});
    return {&g_, g_.append(op_def_of<ops::constant>, 0, dtype::int64, nullptr, 0, block.w, 1)};
  }

  FLOWGRAPH_CONSTEXPR detail::vec<graph_data::kept_value> kept_for(int region) const {
    detail::vec<graph_data::kept_value> all;
    for (const graph_data::kept_value& k : g_.kept())
      if (k.region == region && k.from >= 0) all.push(k);
    return all;
  }

  // dy: of the first results; -1: none.
  FLOWGRAPH_CONSTEXPR void differentiate_loop(int owner, const detail::vec<int>& dy);

  FLOWGRAPH_CONSTEXPR void differentiate_branches(int owner, const detail::vec<int>& dy) {
    const node x = g_.nodes[owner];
    const int here = g_.current_region, n = x.outputs, branches = x.n_regions;
    auto attrs = detail::attrs_from_words<ops::control_attrs>(g_.words.data + x.attrs);
    const int around = region_;
    g_.current_region = around;
    const int forward = g_.reserve_regions(branches);
    const region_copier copy(g_, owner, forward, around);
    g_.current_region = here;
    const int backward = g_.reserve_regions(branches);
    const int begin = g_.nodes.count;

    // Each branch gives the derivatives by all that came from outside into any of them.
    detail::vec<int> outer;
    for (int k = 1; k < x.n_inputs; ++k)
      if (wanted(input(owner, k)) && is_floating(g_.nodes[input(owner, k)].type)) outer.push(input(owner, k));
    for (int b = 0; b < branches; ++b) {
      detail::vec<int> results(n);
      for (int k = 0; k < n; ++k) results[k] = copy[g_.edges[g_.regions[x.first_region + b].results + k]];
      differentiate_branch(forward + b, backward + b, begin, results, dy, outer, around);
    }

    // The new branches give their stacks as well; those of the others stay empty.
    detail::vec<int> like(n);
    for (int k = 0; k < n; ++k) like[k] = result(owner, k);
    detail::vec<graph_data::kept_value> kept;
    for (int b = 0; b < branches; ++b)
      for (const graph_data::kept_value& k : kept_for(backward + b)) kept.push(k);
    g_.current_region = around;
    for (int j = 0; j < kept.count; ++j) like.push(ops::empty_stack(g_).id);
    for (int b = 0; b < branches; ++b) {
      detail::vec<int> results(n);
      for (int k = 0; k < n; ++k) results[k] = copy[g_.edges[g_.regions[x.first_region + b].results + k]];
      g_.current_region = forward + b;
      for (const graph_data::kept_value& k : kept) {
        const ref empty = ops::empty_stack(g_);
        results.push(k.region == backward + b ? emit<ops::stack_push>(empty, at(k.value)).id : empty.id);
      }
      g_.close_region(results.data, results.count);
    }
    g_.current_region = around;
    attrs.replaces = 1;
    const auto words = detail::words_of(attrs);
    int choice = g_.capture(input(owner, 0), around);
    const int made =
        g_.append_owner(op_def_of<ops::cond>, like.data, like.count, forward, branches, &choice, 1, words.w, 3, owner);

    g_.current_region = here;
    for (int j = 0; j < kept.count; ++j)
      g_.add_capture(kept[j].region, g_.capture(result(made, n + j), here), kept[j].from);
    const auto plain = detail::words_of(ops::control_attrs{-1, 0, 0});
    choice = g_.capture(input(owner, 0), here);
    const int back =
        g_.append_owner(op_def_of<ops::cond>, outer.data, outer.count, backward, branches, &choice, 1, plain.w, 3);
    for (int k = 0; k < outer.count; ++k) add(outer[k], at(result(back, k)));
  }

  FLOWGRAPH_CONSTEXPR void differentiate_branch(int forward, int backward, int begin, const detail::vec<int>& given,
                                                const detail::vec<int>& dy, const detail::vec<int>& outer, int around) {
    g_.enter_region(backward);
    g_.pair_regions({backward, forward, &op_def_of<ops::stack_pop>, 0, -1});
    detail::vec<int> inside(outer.count, -1);
    int lowest = begin;
    for (int i = begin; i-- > 0;) {
      if (g_.nodes[i].region != forward) continue;
      lowest = i;
      const int from = g_.nodes[i].op->id == ops::argument::id ? g_.captured_by(i) : -1;
      for (int k = 0; k < outer.count; ++k)
        if (from >= 0 && from == g_.capture(outer[k], around)) inside[k] = i;
    }
    differentiator body(g_, forward, lowest, begin);
    for (const int i : inside)
      if (i >= 0) body.want(i);
    body.find_wanted();
    for (int k = 0; k < dy.count; ++k)
      if (dy[k] >= 0) body.add(given[k], at(g_.capture(dy[k], backward)));
    body.sweep();
    detail::vec<int> results;
    for (int k = 0; k < outer.count; ++k) {
      const int d = inside[k] < 0 ? -1 : body.sum(inside[k]);
      results.push(d >= 0 ? d : zeros_like(outer[k]).id);
    }
    g_.close_region(results.data, results.count);
  }

  graph_data& g_;
  int region_, lowest_, size_;
  bool asked_ = false;
  detail::vec<bool> wanted_;  // of each node: it lies between some x and the loss, and carries a derivative
  detail::vec<int> sums_;     // of each node: the derivative by it so far; -1: none
};

}  // namespace flowgraph::passes

#include "differentiate_loop.hpp"
