// The derivative of a loop is a loop that runs as often, backward: a turn takes what the forward turn computed from
// stacks (ops/stack.hpp), or from arrays where it is known how many turns there can be. For that the forward loop is
// built once more, with pushes in its body and a count of its turns; the new one replaces the old one wherever both are
// needed. Branches likewise (differentiator.hpp).
#pragma once
#include <flowgraph/ops/matmul.hpp>
#include "differentiator.hpp"
#include "loop_turns.hpp"

namespace flowgraph::passes {

// Of one loop, in the order of its functions.
class loop_derivative {
 public:
  constexpr loop_derivative(differentiator& around, int owner)
      : d_(around),
        g_(around.g_),
        owner_(owner),
        loop_(around.g_.nodes[owner]),
        attrs_(detail::attrs_from_words<ops::control_attrs>(around.g_.words.data + loop_.attrs)),
        n_(loop_.outputs),
        here_(around.g_.current_region),
        active_(loop_.outputs) {
    arguments_ = detail::vec<int>(n_, -1);
  }

  // The body of the new loop, where the old one is or again where its derivative is, and what carries a derivative
  // through it.
  FLOWGRAPH_CONSTEXPR void copy_forward() {
    // Where the loop runs that keeps values: again, if it does the same again.
    around_ = attrs_.again != 0 && d_.is_repeatable(owner_) ? here_ : d_.region_;
    g_.current_region = around_;
    forward_ = g_.reserve_regions(2);
    const region_copier copy(g_, owner_, forward_, around_);
    g_.current_region = here_;
    backward_ = g_.reserve_regions(2);
    begin_ = lowest_ = g_.nodes.count;

    results_ = detail::vec<int>(n_);
    for (int k = 0; k < n_; ++k) results_[k] = copy[g_.edges[g_.regions[loop_.first_region + 1].results + k]];
    condition_ = copy[g_.edges[g_.regions[loop_.first_region].results]];
    for (int i = begin_; i-- > 0;) {
      const node& y = g_.nodes[i];
      if (y.region != forward_ + 1) continue;
      lowest_ = i;
      if (y.op->id != ops::argument::id) continue;
      const int outer = g_.captured_by(i);
      if (outer < 0)
        arguments_[static_cast<int>(g_.words[y.attrs])] = i;
      else
        note_captured(outer, i);
    }
    for (int k = 0; k < n_; ++k) active_[k] = carries_floats(k) && d_.wanted(d_.input(owner_, k));
    for (bool changed = true; changed;) {
      differentiator body(g_, forward_ + 1, lowest_, begin_);
      want_inputs(body);
      changed = false;
      for (int k = 0; k < n_; ++k)
        if (!active_[k] && carries_floats(k) && body.wanted(results_[k])) active_[k] = changed = true;
    }
  }

  // Backward, a turn takes derivatives by what a forward turn gave and gives those by what it began with; it adds up
  // those by what came from outside: (turns, variables..., captured..., stacks...).
  FLOWGRAPH_CONSTEXPR void make_backward() {
    g_.enter_region(backward_ + 1);
    const int turns = g_.append_argument(0, 0, dtype::int64);
    detail::vec<int> variables;
    given_.push(emit<ops::sub>(at(turns), d_.count_from(1)).id);
    for (int k = 0; k < n_; ++k)
      if (active_[k])
        variables.push(g_.append_argument(next_++, g_.nodes[results_[k]].shape, g_.nodes[results_[k]].type));
    pair_turns();
    differentiator body(g_, forward_ + 1, lowest_, begin_);
    want_inputs(body);
    for (int k = 0, v = 0; k < n_; ++k)
      if (active_[k]) body.add(results_[k], at(variables[v++]));
    body.sweep();
    for (int k = 0; k < n_; ++k) {
      if (!active_[k]) continue;
      const int d = arguments_[k] < 0 ? -1 : body.sum(arguments_[k]);
      given_.push(d >= 0 ? d : d_.zeros_like(results_[k]).id);
    }
    kept_ = d_.kept_for(backward_ + 1);
    for (captured_input& c : captured_) add_up(c, body.sum(c.inside));
    for (int j = 0; j < kept_.count && most_ == 0; ++j) {
      g_.words[g_.nodes[kept_[j].from].attrs] = next_++;
      given_.push(kept_[j].node + 1);
    }
    g_.close_region(given_.data, given_.count);
    g_.enter_region(backward_);
    const int more = emit<ops::greater>(at(g_.append_argument(0, 0, dtype::int64)), d_.count_from(0)).id;
    g_.close_region(&more, 1);
  }

  // The new loop: (variables..., turns, stacks or arrays...).
  FLOWGRAPH_CONSTEXPR void append_forward() {
    g_.current_region = forward_;
    g_.close_region(&condition_, 1);
    g_.current_region = forward_ + 1;
    const int count = g_.append_argument(n_, 0, dtype::int64);
    results_.push(emit<ops::add>(at(count), d_.count_from(1)).id);
    for (int j = 0; j < kept_.count; ++j) {
      const node& from = g_.nodes[kept_[j].from];
      const ref to = at(g_.append_argument(n_ + 1 + j, from.shape, from.type)), value = at(kept_[j].value);
      const ref put = most_ != 0 ? emit<ops::set_rows>(to, at(count), value) : emit<ops::stack_push>(to, value);
      results_.push(put.id);
    }
    g_.close_region(results_.data, results_.count);
    g_.current_region = around_;
    detail::vec<int> in;
    for (int k = 0; k < n_; ++k) in.push(g_.capture(d_.input(owner_, k), around_));
    in.push(d_.count_from(0).id);
    for (int j = 0; j < kept_.count; ++j) {
      bool rows_unread = most_ != 0;  // behind the last turn
      for (const turn_rows& a : arrays_) rows_unread = rows_unread && (a.kept != j || all_turns_);
      const node& from = g_.nodes[kept_[j].from];
      in.push(initial({from.shape, from.type, rows_unread}));  // 0 is an empty stack, too
    }
    attrs_.replaces = around_ == d_.region_;
    attrs_.again = 0;
    const auto words = detail::words_of(attrs_);
    made_ = g_.append_owner(op_def_of<ops::while_loop>, in.data, in.count, forward_, 2, in.data, in.count, words.w, 3,
                            around_ == d_.region_ ? owner_ : -1);
  }

  // dy: of the first results; -1: none.
  FLOWGRAPH_CONSTEXPR void append_backward(const detail::vec<int>& dy) {
    g_.current_region = here_;
    detail::vec<int> in;
    in.push(g_.capture(d_.result(made_, n_), here_));
    for (int k = 0; k < n_; ++k)
      if (active_[k]) in.push(k < dy.count && dy[k] >= 0 ? dy[k] : d_.zeros_like(d_.input(owner_, k)).id);
    for (const carried& s : sums_) in.push(initial(s));
    for (int j = 0; j < kept_.count; ++j) {
      const int last = g_.capture(d_.result(made_, n_ + 1 + j), here_);
      if (most_ == 0)
        in.push(last);
      else
        g_.add_capture(backward_ + 1, last, kept_[j].from);
    }
    const auto plain = detail::words_of(ops::control_attrs{-1, 0, 0});
    back_ = g_.append_owner(op_def_of<ops::while_loop>, in.data, in.count, backward_, 2, in.data, in.count, plain.w, 3);
  }

  // What the loop began with, and what came from outside, gets its derivative.
  FLOWGRAPH_CONSTEXPR void hand_out() {
    for (int k = 0, next = 1; k < n_; ++k)
      if (active_[k]) d_.add(d_.input(owner_, k), at(d_.result(back_, next++)));
    for (const captured_input& c : captured_)
      d_.add(c.outer, c.sum >= 0         ? at(d_.result(back_, c.sum))
                      : c.arrays[1] >= 0 ? product_of_rows(rows(c.arrays[0]), rows(c.arrays[1]))
                                         : rows(c.arrays[0]));
  }

 private:
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
  // A value from outside that derivatives are wanted by.
  struct captured_input {
    int inside;  // argument
    int outer;
    int sum;        // the variable of the backward loop that adds up; -1: there are arrays
    int arrays[2];  // of two the derivative is the product, of one its rows; -1: none
  };

  constexpr ref at(int id) const { return {&g_, id}; }
  constexpr bool carries_floats(int k) const { return is_floating(g_.nodes[results_[k]].type); }

  FLOWGRAPH_CONSTEXPR void note_captured(int from, int inside) {
    for (int k = n_; k < loop_.n_inputs; ++k) {
      const int outer = d_.input(owner_, k);
      if (d_.wanted(outer) && is_floating(g_.nodes[outer].type) && g_.capture(outer, around_) == from) {
        captured_.push({inside, outer, -1, {-1, -1}});
        return;
      }
    }
  }
  FLOWGRAPH_CONSTEXPR void want_inputs(differentiator& body) const {
    for (int k = 0; k < n_; ++k)
      if (active_[k] && arguments_[k] >= 0) body.want(arguments_[k]);
    for (const captured_input& c : captured_) body.want(c.inside);
    body.find_wanted();
  }

  // How a backward turn finds the values of its forward turn.
  FLOWGRAPH_CONSTEXPR void pair_turns() {
    most_ = most_turns(g_, owner_);
    all_turns_ = most_ != 0 && most_ == counted_turns(g_, owner_) && attrs_.most_turns < 0;
    const int counter = counter_of(g_, owner_);
    if (counter >= 0 && arguments_[counter] >= 0 && g_.nodes[arguments_[counter]].type == dtype::int64)
      g_.stands_for(backward_ + 1, arguments_[counter], given_[0]);
    if (most_ != 0)
      g_.pair_regions({backward_ + 1, forward_ + 1, &op_def_of<ops::embedding_lookup>, most_, given_[0]});
    else
      g_.pair_regions({backward_ + 1, forward_ + 1, &op_def_of<ops::stack_pop>, 0, -1});
  }

  // A turn's share of a derivative by a matrix is often a product of a few rows, aT b: of the weights of a recurrent
  // layer, which all turns multiply their states with. Adding up shares costs more than computing them. Where it is
  // known how many turns there can be, a turn leaves its a and b in arrays, and behind the loop there is one product.
  // d: the share; -1: none.
  FLOWGRAPH_CONSTEXPR void add_up(captured_input& c, int d) {
    if (most_ != 0 && d >= 0 && is_sum_of_products(at(d))) {
      for (int k = 0; k < 2; ++k) c.arrays[k] = rows_of(at(d).input(k));
    } else if (most_ != 0 && d >= 0 && is_row_of_turn(at(d))) {
      c.arrays[0] = rows_of(at(d).input(1));
    } else {
      const int shape = g_.nodes[c.inside].shape, sum = g_.append_argument(next_, shape, g_.nodes[c.inside].type);
      given_.push(d >= 0 ? accumulate_densely(at(sum), at(d)).id : sum);
      sums_.push({shape, g_.nodes[c.inside].type, false});
      c.sum = next_++;
    }
  }
  FLOWGRAPH_CONSTEXPR bool is_sum_of_products(ref d) const {
    if (!d.is(op_def_of<ops::matmul>) || d.rank() != 2 || d.input(0).rank() != 2 || d.input(1).rank() != 2)
      return false;
    const auto [ta, tb] = d.attrs<ops::matmul::attrs>();
    return ta && !tb;
  }
  // Rows of a tensor that a loop walks along: the share of each turn is the row of its number.
  constexpr bool is_row_of_turn(ref d) const {
    return d.is(op_def_of<ops::indexed_slices>) && d.input(0).id == given_[0] && d.shape()[0] == most_;
  }
  // The array that has this value of each turn: what was kept is one already.
  FLOWGRAPH_CONSTEXPR int rows_of(ref value) {
    for (int k = 0; k < arrays_.count; ++k)
      if (arrays_[k].value == value.id) return k;
    for (int j = 0; j < kept_.count; ++j)
      if (kept_[j].node == value.id) return arrays_.push({value.id, j, -1});
    const int shape = array_of(value), array = g_.append_argument(next_, shape, value.type());
    given_.push(emit<ops::set_rows>(at(array), at(given_[0]), value).id);
    sums_.push({shape, value.type(), all_turns_});
    return arrays_.push({value.id, -1, next_++});
  }
  FLOWGRAPH_CONSTEXPR int array_of(ref row) const {
    extents e;
    e.push(most_);
    for (int k = 0; k < row.rank(); ++k) e.push(row.shape()[k]);
    return g_.intern_shape(e);
  }
  FLOWGRAPH_CONSTEXPR int initial(const carried& c) const {
    if (!c.unset) return d_.zeros(c.shape, c.type).id;
    const auto block = detail::words_of(ops::unset::attrs{g_.nodes.count});
    return g_.append(op_def_of<ops::unset>, c.shape, c.type, nullptr, 0, block.w, 1);
  }
  constexpr ref rows(int k) const {
    const turn_rows& a = arrays_[k];
    return at(a.kept >= 0 ? g_.capture(d_.result(made_, n_ + 1 + a.kept), here_) : d_.result(back_, a.variable));
  }
  static constexpr ref product_of_rows(ref a, ref b) {
    return emit<ops::matmul>(ops::matmul::attrs{1, 0}, ops::as_matrix(a), ops::as_matrix(b));
  }

  differentiator& d_;
  graph_data& g_;
  int owner_;
  node loop_;
  ops::control_attrs attrs_;
  int n_;     // variables that it carries
  int here_;  // the region where the derivative is
  // The new loop: regions, the first and one past the last node of its body, what it carries and what it reads.
  int around_ = 0, forward_ = 0, lowest_ = 0, begin_ = 0, condition_ = 0, made_ = 0;
  detail::vec<int> results_, arguments_;
  detail::vec<bool> active_;  // of each variable: it carries a derivative
  detail::vec<captured_input> captured_;
  // The backward loop: regions, how many turns there can be (0: unknown), what a turn gives.
  int backward_ = 0, back_ = 0, next_ = 1;
  extent most_ = 0;
  bool all_turns_ = false;  // there are as many, always
  detail::vec<int> given_;
  detail::vec<graph_data::kept_value> kept_;
  detail::vec<turn_rows> arrays_;
  detail::vec<carried> sums_;  // and arrays, as the loop begins with them
};

FLOWGRAPH_CONSTEXPR void differentiator::differentiate_loop(int owner, const detail::vec<int>& dy) {
  loop_derivative loop(*this, owner);
  loop.copy_forward();
  loop.make_backward();
  loop.append_forward();
  loop.append_backward(dy);
  loop.hand_out();
}

}  // namespace flowgraph::passes
