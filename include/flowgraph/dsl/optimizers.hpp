// Optimizers, composed from graph ops: each says how one variable follows its gradient. Their state is ordinary
// variables named after the one they serve ("w1/momentum").
#pragma once
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/state.hpp>
#include <flowgraph/ops/unary.hpp>
#include <flowgraph/passes/gradient.hpp>
#include "graph.hpp"

namespace flowgraph {

namespace detail {

// What an optimizer's rule sees: one variable with its gradient. It hands its updates to run().
struct update_step {
  graph_data& graph;
  ref variable;
  ref gradient;
  text_range name;  // of the variable
  vec<int>& updates;

  constexpr void run(ref update) { updates.push(update.id); }

  // The gradient of a table of which a step looks up some rows: their indices, and the gradient by each.
  constexpr bool is_sparse() const { return gradient.is(op_def_of<ops::indexed_slices>); }
  constexpr ref indices() const { return gradient.input(0); }
  constexpr ref rows() const { return gradient.input(1); }

  // A variable of the same shape that the rule keeps from step to step.
  constexpr ref slot(std::string_view suffix, double initial) const {
    const auto words = words_of(ops::variable::attrs{static_cast<std::int64_t>(initializer::constant), initial, 0, 0});
    const int shape = variable.get().shape;
    const int id = graph.append(op_def_of<ops::variable>, shape, variable.type(), nullptr, 0, words.w,
                                attr_words<ops::variable::attrs>);
    graph.name_below(id, name, suffix);
    return {&graph, id};
  }
};

// Appends gradients of the loss by every trainable variable it depends on, the rule's updates, and one operation
// that runs them all.
template <class Optimizer>
constexpr operation minimize(graph_data& g, const Optimizer& optimizer, int loss) {
  const int size = loss + 1;
  vec<bool> reached(size);
  reached[loss] = true;
  for (int i = loss; i > 0; --i) {
    if (!reached.data[i]) continue;
    const node& x = g.nodes.data[i];
    const int* in = g.edges.data + x.inputs;
    for (int k = 0; k < x.n_inputs; ++k) reached.data[in[k]] = true;
  }
  vec<text_range> names(size);
  for (int i = g.names.size(); i-- > 0;)
    if (g.names[i].node < size) names[g.names[i].node] = g.names[i].text;

  vec<int> variables;
  for (int i = 0; i < size; ++i)
    if (reached.data[i] && g.nodes.data[i].op->id == ops::variable::id && is_floating(g.nodes.data[i].type) &&
        ref{&g, i}.attrs<ops::variable::attrs>().trainable)
      variables.push(i);
  if (variables.empty()) g.fail(problem::no_variables, "minimize");

  vec<int> gradients(variables.size());
  passes::gradient(g, loss, variables.begin(), variables.size(), gradients.begin());
  vec<int> updates;
  const source where = g.where;
  for (int k = 0; k < variables.size(); ++k) {
    const int v = variables[k];
    g.device = g.nodes[v].device;  // state and what updates it live together
    update_step step{g, {&g, v}, {&g, gradients[k]}, names[v], updates};
    optimizer.update(step);
  }
  g.device = 0;
  g.where = where;
  return {&g, ops::append_group(g, updates.begin(), updates.size())};
}

constexpr bool finite_positive(double x) { return x > 0 && x - x == 0; }

template <any_tensor Loss, class Optimizer>
constexpr auto minimize_checked(const Optimizer& optimizer, const Loss& loss, source where) {
  if constexpr (rank_v<Loss> != 0) mistake<problem::loss_not_scalar, tensor_t<Loss>>();
  if constexpr (!floating_tensor<Loss>) mistake<problem::loss_not_floating, tensor_t<Loss>>();
  if constexpr (rank_v<Loss> == 0 && floating_tensor<Loss>) {
    loss.graph->where = where;
    const problem p = optimizer.check();
    if (p != problem::none) loss.graph->fail(p, Optimizer::name);
    return minimize(*loss.graph, optimizer, loss.id);
  } else {
    return operation{loss.graph, loss.id};
  }
}

}  // namespace detail

// w -= rate g. The rows of an embedding's gradient are subtracted one by one, the rest of the table is not touched.
struct gradient_descent {
  static constexpr std::string_view name = "gradient_descent";
  double rate;

  constexpr explicit gradient_descent(double learning_rate) : rate(learning_rate) {}

  constexpr problem check() const { return detail::finite_positive(rate) ? problem::none : problem::learning_rate; }
  constexpr void update(detail::update_step& s) const {
    if (s.is_sparse()) return s.run(emit<ops::scatter_sub>(s.variable, s.indices(), s.rows() * rate));
    s.run(emit<ops::assign_sub>(s.variable, s.gradient * rate));
  }
  template <any_tensor Loss>
  constexpr auto minimize(const Loss& loss, caller where = {}) const {
    return detail::minimize_checked(*this, loss, where);
  }
};

// v = momentum v + g;  w -= rate v, or with Nesterov w -= rate (g + momentum v). Moves every row of an embedding: v
// fades, but does not stop where a step has no gradient.
struct momentum {
  static constexpr std::string_view name = "momentum";
  double rate;
  double decay;
  bool nesterov;

  constexpr explicit momentum(double learning_rate, double momentum_decay = 0.9, bool use_nesterov = false)
      : rate(learning_rate),
        decay(momentum_decay),
        nesterov(use_nesterov) {}

  constexpr problem check() const {
    if (!detail::finite_positive(rate)) return problem::learning_rate;
    return decay >= 0 && decay < 1 ? problem::none : problem::hyper_parameter;
  }
  constexpr void update(detail::update_step& s) const {
    const ref v = s.slot("momentum", 0);
    const ref next = v * decay + s.gradient;
    s.run(emit<ops::assign>(v, next));
    const ref direction = nesterov ? s.gradient + next * decay : next;
    s.run(emit<ops::assign_sub>(s.variable, direction * rate));
  }
  template <any_tensor Loss>
  constexpr auto minimize(const Loss& loss, caller where = {}) const {
    return detail::minimize_checked(*this, loss, where);
  }
};

// a += g^2;  w -= rate g / (sqrt(a) + epsilon). Touches only the rows of an embedding that were looked up, with the
// same result: the others have no gradient.
struct adagrad {
  static constexpr std::string_view name = "adagrad";
  double rate;
  double initial;
  double epsilon;

  constexpr explicit adagrad(double learning_rate, double initial_accumulator = 0.1, double denominator_epsilon = 1e-7)
      : rate(learning_rate),
        initial(initial_accumulator),
        epsilon(denominator_epsilon) {}

  constexpr problem check() const {
    if (!detail::finite_positive(rate)) return problem::learning_rate;
    return initial >= 0 && epsilon >= 0 ? problem::none : problem::hyper_parameter;
  }
  constexpr void update(detail::update_step& s) const {
    const ref a = s.slot("accumulator", initial);
    if (s.is_sparse()) {
      const ref g = emit<ops::sum_duplicates>(s.indices(), s.rows()), squares = emit<ops::square>(g);
      const ref next = emit<ops::embedding_lookup>(a, s.indices()) + squares;
      s.run(emit<ops::scatter_add>(a, s.indices(), squares));
      s.run(emit<ops::scatter_sub>(s.variable, s.indices(), g * rate / (emit<ops::sqrt>(next) + epsilon)));
      return;
    }
    const ref next = a + emit<ops::square>(s.gradient);
    s.run(emit<ops::assign>(a, next));
    s.run(emit<ops::assign_sub>(s.variable, s.gradient * rate / (emit<ops::sqrt>(next) + epsilon)));
  }
  template <any_tensor Loss>
  constexpr auto minimize(const Loss& loss, caller where = {}) const {
    return detail::minimize_checked(*this, loss, where);
  }
};

}  // namespace flowgraph
