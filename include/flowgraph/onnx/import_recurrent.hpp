// How LSTM, GRU and RNN are read: as loops over time, one for each direction.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <flowgraph/ops/concat.hpp>
#include <flowgraph/ops/range.hpp>
#include <flowgraph/ops/tile.hpp>
#include <flowgraph/ops/unary.hpp>
#include "import_control.hpp"
#include "import_neural.hpp"

namespace flowgraph::onnx {

// (variables...) after body(i, variables) has given their next values for i from 0 to count.
template <class Body>
std::vector<ref> counted_loop(node_import& n, ref count, const std::vector<ref>& initial, const Body& body) {
  graph_data& g = n.graph;
  const int first = g.reserve_regions(2), variables = static_cast<int>(initial.size()) + 1;
  std::vector<int> in{n.table.scalar(dtype::int64, 0).id}, next;
  for (const ref& x : initial) in.push_back(x.id);
  const auto argument = [&](int k) {
    const node& x = g.nodes[in[static_cast<std::size_t>(k)]];
    return ref{&g, g.append_argument(k, x.shape, x.type)};
  };
  g.enter_region(first);
  const int more = emit<ops::less>(argument(0), count).id;
  g.close_region(&more, 1);
  g.enter_region(first + 1);
  const ref i = argument(0);
  std::vector<ref> given, results;
  for (int k = 1; k < variables; ++k) given.push_back(argument(k));
  next.push_back((i + 1.0).id);
  for (const ref& x : body(i, given)) next.push_back(x.id);
  g.close_region(next.data(), variables);
  const auto words = detail::words_of(ops::control_attrs{-1, 0, 0});
  const int id =
      g.append_owner(op_def_of<ops::while_loop>, in.data(), variables, first, 2, in.data(), variables, words.w, 3);
  for (int k = 1; k < variables; ++k) results.push_back(result_of(g, id, k, variables));
  return results;
}

// One node. Weights are [directions, gates * units, ...]; all is done with time in front.
class recurrent_import {
 public:
  recurrent_import(node_import& n, int gates) : n_(n), gates_(gates), x_(n.floating(0)) {
    const std::int64_t layout = n.integer("layout", 0);
    if (layout != 0 && layout != 1) node_import::fail("layout must be 0 or 1");
    batch_first_ = layout == 1;
    if (batch_first_) x_ = swap_first(x_);
    const extents x = x_.shape(), r = n.in_shape(2);
    const std::string direction = n.text("direction", "forward");
    backward_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    if (directions_ == 1 && !backward_ && direction != "forward") node_import::fail("direction \"" + direction + "\"");
    clip_ = n.number("clip", std::numeric_limits<double>::infinity());
    if (!(clip_ > 0)) node_import::fail("clip must be above 0");
    const bool fit = x.rank == 3 && r.rank == 3 && r[0] == directions_ && r[2] > 0 && r[2] <= most_elements / gates &&
                     r[1] == gates * r[2] && n.integer("hidden_size", r[2]) == r[2] &&
                     n.in_shape(1) == extents{3, {directions_, r[1], x[2]}};
    if (!fit) node_import::fail("its operand and weights don't fit together", problem::recurrent_shapes);
    units_ = r[2];
    state_ = {2, {x[1], units_}};
    if (n.has(3) && n.in_shape(3) != extents{2, {directions_, 2 * r[1]}})
      node_import::fail("its biases don't fit its weights", problem::recurrent_shapes);
    if (n.has(7) && n.in_shape(7) != extents{2, {directions_, 3 * units_}})
      node_import::fail("its peepholes don't fit its weights", problem::recurrent_shapes);
    if (n.has(4)) mask_ = mask_of(n.in(4), x);
  }

  // step(projected x, weights, states) gives the next states. Biases of x and of the state are added where x is
  // projected, or, with apart, only those of x.
  template <class Step>
  void read(int states, bool apart, const Step& step) {
    std::vector<std::vector<int>> parts(static_cast<std::size_t>(states) + 1);
    for (int d = 0; d < directions_; ++d) {
      const std::vector<ref> made = one_direction(d, states, apart, step);
      extents with_axis = made[0].shape();  // [time, 1, batch, units]
      with_axis = {4, {with_axis[0], 1, with_axis[1], with_axis[2]}};
      parts[0].push_back(node_import::reshape(made[0], with_axis).id);
      for (std::size_t k = 1; k < made.size(); ++k)
        parts[k].push_back(node_import::reshape(made[k], {3, {1, state_[0], state_[1]}}).id);
    }
    const ref y = value_table::joined(n_.graph, parts[0], 1);
    n_.give(0, batch_first_ ? node_import::transpose(y, {2, 0, 1, 3}) : y);
    for (int k = 1; k <= states; ++k) {
      const ref last = value_table::joined(n_.graph, parts[static_cast<std::size_t>(k)], 0);
      n_.give(k, batch_first_ ? swap_first(last) : last);
    }
  }

  struct weights {
    ref recurrent, bias;  // [gates * units, units]; [gates * units] of the state, where it stands apart
    ref peepholes;        // [3 * units], where there are some
  };
  // The gates along the last axis.
  std::vector<ref> gates_of(ref all) const {
    ops::split::attrs a{1, gates_, {}};
    for (int k = 0; k < gates_; ++k) a.size[k] = units_;
    const int id = emit<ops::split>(a, all).id;
    std::vector<ref> each;
    for (int k = 0; k < gates_; ++k) each.push_back({&n_.graph, id + 1 + k});
    return each;
  }
  // The part of the k-th gate of a weight, a bias of the state or peepholes, if there is one.
  ref of_gate(ref w, int k) const { return w ? cut(w, 0, k * units_, units_) : w; }
  // What a gate's activation gets.
  ref clipped(ref x) const {
    if (std::isinf(clip_)) return x;
    return emit<ops::minimum>(emit<ops::maximum>(x, n_.scalar(x, -clip_)), n_.scalar(x, clip_));
  }

 private:
  static ref swap_first(ref x) { return node_import::transpose(x, {1, 0, 2}); }
  static ref cut(ref x, int axis, std::int64_t begin, std::int64_t size) {
    ops::box_attrs box{};
    extents e = x.shape();
    box.begin[axis] = begin;
    e[axis] = size;
    return emit_as<ops::slice>(e, x.type(), box, x);
  }
  // The part of a direction, without its axis.
  ref part(int k, int direction) {
    const ref all = n_.in(k);
    extents e;
    for (int i = 1; i < all.rank(); ++i) e.push(all.shape()[i]);
    return node_import::reshape(directions_ == 1 ? all : cut(all, 0, direction, 1), e);
  }
  // Which steps belong to their sequences: [time, batch, 1].
  ref mask_of(ref lengths, const extents& x) {
    if (lengths.shape() != extents{1, {x[1]}} || is_floating(lengths.type()) || lengths.type() == dtype::boolean)
      node_import::fail("sequence_lens must be a whole number for each sequence", problem::recurrent_shapes);
    const auto block = detail::words_of(ops::count_up(lengths.type()));
    const int at = n_.graph.append(op_def_of<ops::range>, n_.graph.intern_shape({1, {x[0]}}), lengths.type(), nullptr,
                                   0, block.w, 2);
    return emit<ops::less>(node_import::reshape({&n_.graph, at}, {3, {x[0], 1, 1}}),
                           node_import::reshape(lengths, {3, {1, x[1], 1}}));
  }
  ref first_state(int k, int direction) {
    if (!n_.has(5 + k)) return n_.table.filled(x_.type(), state_, 0);
    ref all = n_.in(5 + k);
    if (batch_first_ && all.rank() == 3) all = swap_first(all);
    if (all.shape() != extents{3, {directions_, state_[0], state_[1]}} || all.type() != x_.type())
      node_import::fail("its initial states don't fit its operand", problem::recurrent_shapes);
    return node_import::reshape(directions_ == 1 ? all : cut(all, 0, direction, 1), state_);
  }

  // (y, states...). Backward, y is filled from its end.
  template <class Step>
  std::vector<ref> one_direction(int d, int states, bool apart, const Step& step) {
    const bool backward = backward_ || d == 1;
    const auto in_order = [&](ref x) { return backward ? emit<ops::reverse>({1}, x) : x; };
    weights w{part(2, d), {}, n_.has(7) ? part(7, d) : ref{}};
    ref projected = product(x_, part(1, d), 0, 1);  // [time, batch, gates * units]
    if (n_.has(3)) {
      const ref both = part(3, d);
      const ref of_x = cut(both, 0, 0, gates_ * units_), of_state = cut(both, 0, gates_ * units_, gates_ * units_);
      projected = projected + (apart ? of_x : of_x + of_state);
      if (apart) w.bias = of_state;
    }
    projected = in_order(projected);
    const ref inside = mask_ ? in_order(mask_) : ref{};
    const extent time = x_.shape()[0];
    std::vector<ref> initial;
    for (int k = 0; k < states; ++k) initial.push_back(first_state(k, d));
    initial.push_back(n_.table.filled(x_.type(), {3, {time, state_[0], state_[1]}}, 0));
    const ref count = time >= 0 ? n_.table.scalar(dtype::int64, static_cast<double>(time))
                                : emit_as<ops::size>({}, dtype::int64, {1}, x_);
    std::vector<ref> made = counted_loop(n_, count, initial, [&](ref i, const std::vector<ref>& given) {
      std::vector<ref> next = step(emit<ops::embedding_lookup>(projected, i), w, given);
      ref y = next[0];
      if (inside) {  // behind its length a sequence keeps its states, and y is 0
        const ref now = emit<ops::embedding_lookup>(inside, i);
        y = emit<ops::select>(now, y, n_.scalar(y, 0));
        for (std::size_t k = 0; k < next.size(); ++k) next[k] = emit<ops::select>(now, next[k], given[k]);
      }
      next.push_back(emit<ops::set_rows>(given.back(), i, y));
      return next;
    });
    made.insert(made.begin(), in_order(made.back()));
    made.pop_back();
    return made;
  }

  node_import& n_;
  int gates_;
  ref x_, mask_;  // [time, batch, inputs]
  bool batch_first_ = false, backward_ = false;
  double clip_ = 0;
  int directions_ = 1;
  extent units_ = 0;
  extents state_;  // [batch, units]
};

// Only those that are meant where nothing is said.
inline void require_activations(node_import& n, const std::vector<std::string>& each) {
  const attribute_proto* a = n.attribute("activations");
  for (std::size_t k = 0; a != nullptr && k < a->strings.size(); ++k)
    if (a->strings[k] != each[k % each.size()])
      node_import::fail("the activation \"" + a->strings[k] + "\" is not supported here");
}

// Gates i, o, f, c: C' = f C + i c, H' = o tanh(C'). With peepholes i and f see C, and o sees C'.
inline void import_lstm(node_import& n) {
  require_activations(n, {"Sigmoid", "Tanh", "Tanh"});
  const bool coupled = n.integer("input_forget", 0) != 0;  // f = 1 - i
  recurrent_import r(n, 4);
  r.read(2, false, [&](ref x, const recurrent_import::weights& w, const std::vector<ref>& given) {
    const std::vector<ref> gates = r.gates_of(x + product(given[0], w.recurrent, 0, 1));
    const auto open = [&](int k, ref cell) {
      const ref gate = gates[static_cast<std::size_t>(k)];
      return emit<ops::sigmoid>(r.clipped(w.peepholes ? gate + cell * r.of_gate(w.peepholes, k) : gate));
    };
    const ref i = open(0, given[1]), f = coupled ? n.scalar(i, 1) - i : open(2, given[1]);
    const ref cell = f * given[1] + i * emit<ops::tanh>(r.clipped(gates[3]));
    return std::vector{open(1, cell) * emit<ops::tanh>(cell), cell};
  });
}
// Gates z, r, h: H' = (1 - z) h + z H. PyTorch multiplies with r behind the product, the paper before it.
inline void import_gru(node_import& n) {
  require_activations(n, {"Sigmoid", "Tanh"});
  const bool behind = n.integer("linear_before_reset", 0) != 0;
  recurrent_import r(n, 3);
  r.read(1, true, [&](ref x, const recurrent_import::weights& w, const std::vector<ref>& given) {
    const ref state = given[0];
    const auto biased = [&](ref y, ref b) { return w.bias ? y + b : y; };
    const std::vector<ref> of_x = r.gates_of(x);
    const std::vector<ref> of_state = r.gates_of(biased(product(state, w.recurrent, 0, 1), w.bias));
    const ref z = emit<ops::sigmoid>(r.clipped(of_x[0] + of_state[0]));
    const ref reset = emit<ops::sigmoid>(r.clipped(of_x[1] + of_state[1]));
    const ref h = emit<ops::tanh>(r.clipped(
        of_x[2] + (behind ? reset * of_state[2]
                          : biased(product(reset * state, r.of_gate(w.recurrent, 2), 0, 1), r.of_gate(w.bias, 2)))));
    return std::vector{h + z * (state - h)};
  });
}
inline void import_rnn(node_import& n) {
  const attribute_proto* a = n.attribute("activations");
  const bool relu = a != nullptr && !a->strings.empty() && a->strings[0] == "Relu";
  require_activations(n, {relu ? "Relu" : "Tanh"});
  recurrent_import r(n, 1);
  r.read(1, false, [&](ref x, const recurrent_import::weights& w, const std::vector<ref>& given) {
    const ref sum = r.clipped(x + product(given[0], w.recurrent, 0, 1));
    return std::vector{relu ? emit<ops::relu>(sum) : emit<ops::tanh>(sum)};
  });
}

inline constexpr import_rule recurrent_import_rules[] = {
    {"LSTM", import_lstm},
    {"GRU", import_gru},
    {"RNN", import_rnn},
};

}  // namespace flowgraph::onnx
