// Reverse-mode differentiation of a graph on values: one backward sweep, each node visited once, however much is
// shared. Ops say their own derivative (ops/); this pass knows none of them by name, but for those of control flow,
// which are the sweep itself applied to their regions.
//
// The derivative of a loop is a loop that runs as often, backward: a turn takes what the forward turn computed from
// stacks (ops/stack.hpp), or from arrays where it is known how many turns there can be. For that the forward loop is
// built once more, with pushes in its body and a count of its turns; the new one replaces the old one wherever both are
// needed. Branches likewise.
#pragma once
#include <flowgraph/ops/comparison.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/matmul.hpp>
#include <flowgraph/ops/rows.hpp>
#include <flowgraph/ops/size.hpp>
#include <flowgraph/ops/stack.hpp>
#include "copy_regions.hpp"
#include "loop_turns.hpp"

namespace flowgraph::passes {

// What is added up where a value is used more than once. Sparse gradients stay sparse among themselves.
constexpr ref accumulate(ref a, ref b) {
  const bool sparse_a = a.is(op_def_of<ops::indexed_slices>), sparse_b = b.is(op_def_of<ops::indexed_slices>);
  if (sparse_a && sparse_b) return ops::join_slices(a, b);
  return emit<ops::add>(a, b);
}

// The same where the sum so far is a dense value of its own: rows are added to it in place.
constexpr ref accumulate_densely(ref sum, ref x) {
  if (x.is(op_def_of<ops::indexed_slices>)) return emit<ops::add_rows>(sum, x.input(0), x.input(1));
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
  constexpr void find_wanted() {
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
  constexpr void sweep() {
    const source where = g_.where;
    const int scope = g_.scope, device = g_.device;
    for (int i = size_ - 1; i >= lowest_; --i)
      if (wanted_.data[i] && g_.nodes.data[i].region == region_) visit(i);
    g_.where = where;
    g_.scope = scope;
    g_.device = device;
  }

 private:
  constexpr void visit(int i) {
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
    g_.device = x.device;
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
  constexpr int newest(int owner) const {
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
  constexpr bool is_repeatable(int owner) const {
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
  constexpr ref zeros(int shape, dtype type) const {
    const auto block = detail::words_of(ops::constant::attrs{0});
    return {&g_, g_.append(op_def_of<ops::constant>, shape, type, nullptr, 0, block.w, 1)};
  }

  constexpr ref count_from(double value) const {
    const auto block = detail::words_of(ops::constant::attrs{value});
    return {&g_, g_.append(op_def_of<ops::constant>, 0, dtype::int64, nullptr, 0, block.w, 1)};
  }

  constexpr detail::vec<graph_data::kept_value> kept_for(int region) const {
    detail::vec<graph_data::kept_value> all;
    for (const graph_data::kept_value& k : g_.kept())
      if (k.region == region && k.from >= 0) all.push(k);
    return all;
  }

  // dy: of the first results; -1: none.
  constexpr void differentiate_loop(int owner, const detail::vec<int>& dy) {
    const node x = g_.nodes[owner];
    const int here = g_.current_region, n = x.outputs;
    auto attrs = detail::attrs_from_words<ops::control_attrs>(g_.words.data + x.attrs);
    // Where the loop runs that keeps values: again, if it does the same again.
    const int around = attrs.again != 0 && is_repeatable(owner) ? here : region_;
    g_.current_region = around;
    const int forward = g_.reserve_regions(2);
    const region_copier copy(g_, owner, forward, around);
    g_.current_region = here;
    const int backward = g_.reserve_regions(2);
    const int begin = g_.nodes.count;

    // The body of the new loop, and what carries a derivative through it.
    detail::vec<int> results(n), arguments(n, -1);
    for (int k = 0; k < n; ++k) results[k] = copy[g_.edges[g_.regions[x.first_region + 1].results + k]];
    const int condition = copy[g_.edges[g_.regions[x.first_region].results]];
    detail::vec<captured_input> captured;
    int lowest = begin;
    for (int i = begin; i-- > 0;) {
      const node& y = g_.nodes[i];
      if (y.region != forward + 1) continue;
      lowest = i;
      if (y.op->id != ops::argument::id) continue;
      const int outer = g_.captured_by(i);
      if (outer < 0)
        arguments[static_cast<int>(g_.words[y.attrs])] = i;
      else
        note_captured(captured, x, owner, outer, i, around);
    }
    detail::vec<bool> active(n);
    for (int k = 0; k < n; ++k) active[k] = is_floating(g_.nodes[results[k]].type) && wanted(input(owner, k));
    for (bool changed = true; changed;) {
      differentiator body(g_, forward + 1, lowest, begin);
      want_inputs(body, arguments, active, captured);
      changed = false;
      for (int k = 0; k < n; ++k)
        if (!active[k] && is_floating(g_.nodes[results[k]].type) && body.wanted(results[k])) active[k] = changed = true;
    }

    // Backward, a turn takes derivatives by what a forward turn gave and gives those by what it began with; it adds up
    // those by what came from outside: (turns, variables..., captured..., stacks...).
    g_.enter_region(backward + 1);
    const int turns = g_.append_argument(0, 0, dtype::int64);
    detail::vec<int> variables, all;
    all.push(emit<ops::sub>(at(turns), count_from(1)).id);
    int next = 1;
    for (int k = 0; k < n; ++k)
      if (active[k]) variables.push(g_.append_argument(next++, g_.nodes[results[k]].shape, g_.nodes[results[k]].type));
    const extent most = most_turns(g_, owner);
    const bool all_turns = most != 0 && most == counted_turns(g_, owner) && attrs.most_turns < 0;
    const int counter = counter_of(g_, owner);
    if (counter >= 0 && arguments[counter] >= 0 && g_.nodes[arguments[counter]].type == dtype::int64)
      g_.stands_for(backward + 1, arguments[counter], all[0]);
    if (most != 0)
      g_.pair_regions({backward + 1, forward + 1, &op_def_of<ops::embedding_lookup>, most, all[0]});
    else
      g_.pair_regions({backward + 1, forward + 1, &op_def_of<ops::stack_pop>, 0, -1});
    differentiator body(g_, forward + 1, lowest, begin);
    want_inputs(body, arguments, active, captured);
    body.find_wanted();
    for (int k = 0, v = 0; k < n; ++k)
      if (active[k]) body.add(results[k], at(variables[v++]));
    body.sweep();
    for (int k = 0; k < n; ++k) {
      if (!active[k]) continue;
      const int d = arguments[k] < 0 ? -1 : body.sum(arguments[k]);
      all.push(d >= 0 ? d : zeros_like(results[k]).id);
    }
    const detail::vec<graph_data::kept_value> kept = kept_for(backward + 1);
    detail::vec<turn_rows> arrays;
    detail::vec<carried> sums;  // and arrays, as the loop begins with them
    // The array that has this value of each turn: what was kept is one already.
    const auto rows_of = [&](ref value) {
      for (int k = 0; k < arrays.count; ++k)
        if (arrays[k].value == value.id) return k;
      for (int j = 0; j < kept.count; ++j)
        if (kept[j].node == value.id) return arrays.push({value.id, j, -1});
      const int shape = array_of(most, value), array = g_.append_argument(next, shape, value.type());
      all.push(emit<ops::set_rows>(at(array), at(all[0]), value).id);
      sums.push({shape, value.type(), all_turns});
      return arrays.push({value.id, -1, next++});
    };
    for (captured_input& c : captured) {
      const int d = body.sum(c.inside);
      if (most != 0 && d >= 0 && is_sum_of_products(at(d))) {
        for (int k = 0; k < 2; ++k) c.arrays[k] = rows_of(at(d).input(k));
      } else if (most != 0 && d >= 0 && is_row_of_turn(at(d), all[0], most)) {
        c.arrays[0] = rows_of(at(d).input(1));
      } else {
        const int shape = g_.nodes[c.inside].shape, sum = g_.append_argument(next, shape, g_.nodes[c.inside].type);
        all.push(d >= 0 ? accumulate_densely(at(sum), at(d)).id : sum);
        sums.push({shape, g_.nodes[c.inside].type, false});
        c.sum = next++;
      }
    }
    for (int j = 0; j < kept.count && most == 0; ++j) {
      g_.words[g_.nodes[kept[j].from].attrs] = next++;
      all.push(kept[j].node + 1);
    }
    g_.close_region(all.data, all.count);
    g_.enter_region(backward);
    const int more = emit<ops::greater>(at(g_.append_argument(0, 0, dtype::int64)), count_from(0)).id;
    g_.close_region(&more, 1);

    // The new loop: (variables..., turns, stacks or arrays...).
    g_.current_region = forward;
    g_.close_region(&condition, 1);
    g_.current_region = forward + 1;
    const int count = g_.append_argument(n, 0, dtype::int64);
    results.push(emit<ops::add>(at(count), count_from(1)).id);
    for (int j = 0; j < kept.count; ++j) {
      const node& from = g_.nodes[kept[j].from];
      const ref to = at(g_.append_argument(n + 1 + j, from.shape, from.type)), value = at(kept[j].value);
      const ref put = most != 0 ? emit<ops::set_rows>(to, at(count), value) : emit<ops::stack_push>(to, value);
      results.push(put.id);
    }
    g_.close_region(results.data, results.count);
    g_.current_region = around;
    detail::vec<int> in;
    for (int k = 0; k < n; ++k) in.push(g_.capture(input(owner, k), around));
    in.push(count_from(0).id);
    for (int j = 0; j < kept.count; ++j) {
      bool rows_unread = most != 0;  // behind the last turn
      for (const turn_rows& a : arrays) rows_unread = rows_unread && (a.kept != j || all_turns);
      const node& from = g_.nodes[kept[j].from];
      in.push(initial({from.shape, from.type, rows_unread}));  // 0 is an empty stack, too
    }
    attrs.replaces = around == region_;
    attrs.again = 0;
    const auto words = detail::words_of(attrs);
    const int made = g_.append_owner(op_def_of<ops::while_loop>, in.data, in.count, forward, 2, in.data, in.count,
                                     words.w, 3, around == region_ ? owner : -1);

    g_.current_region = here;
    in.clear();
    in.push(g_.capture(result(made, n), here));
    for (int k = 0; k < n; ++k)
      if (active[k]) in.push(k < dy.count && dy[k] >= 0 ? dy[k] : zeros_like(input(owner, k)).id);
    for (const carried& s : sums) in.push(initial(s));
    for (int j = 0; j < kept.count; ++j) {
      const int last = g_.capture(result(made, n + 1 + j), here);
      if (most == 0)
        in.push(last);
      else
        g_.add_capture(backward + 1, last, kept[j].from);
    }
    const auto plain = detail::words_of(ops::control_attrs{-1, 0, 0});
    const int back =
        g_.append_owner(op_def_of<ops::while_loop>, in.data, in.count, backward, 2, in.data, in.count, plain.w, 3);
    next = 1;
    for (int k = 0; k < n; ++k)
      if (active[k]) add(input(owner, k), at(result(back, next++)));
    const auto rows = [&](int k) {
      const turn_rows& a = arrays[k];
      return at(a.kept >= 0 ? g_.capture(result(made, n + 1 + a.kept), here) : result(back, a.variable));
    };
    for (const captured_input& c : captured)
      add(c.outer, c.sum >= 0         ? at(result(back, c.sum))
                   : c.arrays[1] >= 0 ? product_of_rows(rows(c.arrays[0]), rows(c.arrays[1]))
                                      : rows(c.arrays[0]));
  }

  // An array that has a row for each turn.
  struct turn_rows {
    int value;     // the node that gives the row
    int kept;      // which of the kept values it is; -1: the loop makes it
    int variable;  // of the loop, where that makes it
  };
  // What a loop begins with: zeros, or memory that is written before it is read.
  struct carried {
    int shape;
    dtype type;
    bool unset;
  };
  constexpr int initial(const carried& c) const {
    if (!c.unset) return zeros(c.shape, c.type).id;
    const auto block = detail::words_of(ops::unset::attrs{g_.nodes.count});
    return g_.append(op_def_of<ops::unset>, c.shape, c.type, nullptr, 0, block.w, 1);
  }

  // A turn's share of a derivative by a matrix is often a product of a few rows, aT b: of the weights of a recurrent
  // layer, which all turns multiply their states with. Adding up shares costs more than computing them. Where it is
  // known how many turns there can be, a turn leaves its a and b in arrays, and behind the loop there is one product.
  constexpr bool is_sum_of_products(ref d) const {
    if (!d.is(op_def_of<ops::matmul>) || d.rank() != 2 || d.input(0).rank() != 2 || d.input(1).rank() != 2)
      return false;
    const auto [ta, tb] = d.attrs<ops::matmul::attrs>();
    return ta && !tb;
  }
  // Rows of a tensor that a loop walks along: the share of each turn is the row of its number.
  constexpr bool is_row_of_turn(ref d, int turn, extent turns) const {
    return d.is(op_def_of<ops::indexed_slices>) && d.input(0).id == turn && d.shape()[0] == turns;
  }
  constexpr int array_of(extent length, ref row) const {
    extents e;
    e.push(length);
    for (int k = 0; k < row.rank(); ++k) e.push(row.shape()[k]);
    return g_.intern_shape(e);
  }
  static constexpr ref product_of_rows(ref a, ref b) {
    return emit<ops::matmul>(ops::matmul::attrs{1, 0}, ops::as_matrix(a), ops::as_matrix(b));
  }
  constexpr void differentiate_branches(int owner, const detail::vec<int>& dy) {
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

  constexpr void differentiate_branch(int forward, int backward, int begin, const detail::vec<int>& given,
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

  // A value from outside that derivatives are wanted by.
  struct captured_input {
    int inside;  // argument
    int outer;
    int sum;        // the variable of the backward loop that adds up; -1: there are arrays
    int arrays[2];  // of two the derivative is the product, of one its rows; -1: none
  };
  constexpr void note_captured(detail::vec<captured_input>& all, const node& x, int owner, int from, int inside,
                               int around) const {
    for (int k = x.outputs; k < x.n_inputs; ++k) {
      const int outer = input(owner, k);
      if (wanted(outer) && is_floating(g_.nodes[outer].type) && g_.capture(outer, around) == from) {
        all.push({inside, outer, -1, {-1, -1}});
        return;
      }
    }
  }
  static constexpr void want_inputs(differentiator& body, const detail::vec<int>& arguments,
                                    const detail::vec<bool>& active, const detail::vec<captured_input>& captured) {
    for (int k = 0; k < active.count; ++k)
      if (active[k] && arguments[k] >= 0) body.want(arguments[k]);
    for (const captured_input& c : captured) body.want(c.inside);
    body.find_wanted();
  }

  graph_data& g_;
  int region_, lowest_, size_;
  detail::vec<bool> wanted_;  // of each node: it lies between some x and the loss, and carries a derivative
  detail::vec<int> sums_;     // of each node: the derivative by it so far; -1: none
};

// Appends what computes d loss / d xs[k] and writes its node to result[k]. Where the loss does not depend on
// xs[k], that is a constant zero. An op without a gradient on the way is a fault that names it.
constexpr void gradient(graph_data& g, int loss, const int* xs, int n, int* result) {
  const int region = g.nodes[loss].region;
  int size = loss + 1;
  if (g.nodes[loss].op->id == ops::output::id) {  // with all results of its node
    const int owner = g.inputs(loss)[0];
    size = owner + 1 + g.nodes[owner].outputs;
  }
  detail::vec<int> inside(n);  // a value from outside of the region that is being built enters it
  int lowest = size;
  for (int k = 0; k < n; ++k) {
    inside[k] = g.capture(xs[k], region);
    if (inside[k] < lowest) lowest = inside[k];
  }
  differentiator d(g, region, lowest, size);
  for (const int x : inside)
    if (x < size) d.want(x);
  d.find_wanted();
  if (d.wanted(loss)) d.add(loss, ops::full_like({&g, loss}, 1));
  d.sweep();
  for (int k = 0; k < n; ++k) result[k] = d.sum(inside[k]) >= 0 ? d.sum(inside[k]) : ops::full_like({&g, xs[k]}, 0).id;
}

}  // namespace flowgraph::passes
