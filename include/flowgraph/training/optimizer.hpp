// What all optimizers share: gradients of a loss by its variables as a list that can be changed on the way, and the
// step by which a rule moves one variable. A rule is a struct with a name and an update; training/optimizers.hpp has
// the usual ones.
#pragma once
#include <flowgraph/graph/beside.hpp>
#include <flowgraph/language/graph.hpp>
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/state.hpp>
#include <flowgraph/ops/unary.hpp>
#include <flowgraph/passes/gradient.hpp>

namespace flowgraph {

// Variables with the gradients of a loss by them: what compute_gradients gives and apply_gradients takes.
struct gradient_list {
  struct entry {
    int variable;
    int gradient;
  };

  graph_data* graph = nullptr;
  detail::vec<entry> entries;

  constexpr int size() const { return entries.size(); }
  constexpr ref variable(int k) const { return {graph, entries[k].variable}; }
  constexpr ref gradient(int k) const { return {graph, entries[k].gradient}; }
  // The gradient of a table of which a step looks up some rows: their indices, and the gradient by each.
  constexpr bool is_sparse(int k) const { return gradient(k).is(op_def_of<ops::indexed_slices>); }
};

namespace detail {

// A variable that nobody trains, all of one number, named below another name: "w1/momentum".
FLOWGRAPH_CONSTEXPR ref add_state(graph_data& g, int shape, dtype type, double initial, text_range base,
                                  std::string_view suffix) {
  const auto words = words_of(ops::variable::attrs{static_cast<std::int64_t>(initializer::constant), initial, 0, 0});
  const int id = g.append(op_def_of<ops::variable>, shape, type, nullptr, 0, words.w, attr_words<ops::variable::attrs>);
  g.name_below(id, base, suffix);
  return {&g, id};
}

// Of the shape of rows: 1 where an index occurs for the first time, 0 in the rows of those that occur again or are -1.
FLOWGRAPH_CONSTEXPR ref is_first_of_each(ref indices, ref rows) {
  const ref counts = emit<ops::sum_duplicates>(indices, ops::full_like(rows, 1));
  return emit<ops::greater>(counts, ops::scalar_like(counts, 0));
}
FLOWGRAPH_CONSTEXPR ref first_of_each(ref indices, ref rows) {
  return emit_as<ops::cast>(rows.shape(), rows.type(), is_first_of_each(indices, rows));
}

FLOWGRAPH_CONSTEXPR ref scalar_cast(ref x, dtype type) {
  if (x.type() == type) return x;
  return emit_as<ops::cast>(extents{}, type, x);
}

}  // namespace detail

// What the updates of one step have in common.
class update_round {
 public:
  constexpr update_round(graph_data& g, std::string_view optimizer) : graph(g), optimizer_(optimizer) {}

  graph_data& graph;
  detail::vec<int> updates;

  // How many steps were done before this one: a scalar int64 that is saved and restored like any variable.
  FLOWGRAPH_CONSTEXPR ref steps_done() {
    if (!counter_) counter_ = detail::add_state(graph, 0, dtype::int64, 0, graph.store(optimizer_), "steps");
    return counter_;
  }
  // To be called last: everybody reads the counter as it was.
  constexpr void count_step() {
    if (counter_) updates.push(emit<ops::assign_add>(counter_, ops::scalar_like(counter_, 1)).id);
  }

  // A scalar in another type; asked for again, the same node.
  FLOWGRAPH_CONSTEXPR ref scalar_as(ref x, dtype type) {
    if (x.type() == type) return x;
    for (const scalar& s : scalars_)
      if (s.of == x.id && s.type == type) return {&graph, s.id};
    const ref y = detail::scalar_cast(x, type);
    scalars_.push({x.id, type, y.id});
    return y;
  }

 private:
  struct scalar {
    int of;
    dtype type;
    int id;
  };

  std::string_view optimizer_;
  ref counter_;
  detail::vec<scalar> scalars_;
};

// What a rule sees of one variable. Of an embedding's table it sees the rows that the step looked up, and nothing else
// is read or written: written once, a rule serves both.
class update_step {
 public:
  constexpr update_step(update_round& r, ref v, ref by_v, ref learning_rate, text_range name)
      : variable(v),
        rate(learning_rate),
        round_(r),
        gradient_(by_v),
        name_(name) {}

  const ref variable;
  const ref rate;  // a scalar of the variable's type

  constexpr bool is_sparse() const { return gradient_.is(op_def_of<ops::indexed_slices>); }
  // Where nothing was looked up, the first row with zeros.
  constexpr ref indices() {
    if (!indices_) indices_ = ops::indices_of(gradient_);
    return indices_;
  }
  constexpr ref rows() const { return ops::rows_of(gradient_); }

  // The gradient; of a table one row for each index, where an index that occurs again has zeros.
  FLOWGRAPH_CONSTEXPR ref gradient() {
    if (!is_sparse()) return gradient_;
    if (!summed_) summed_ = emit<ops::sum_duplicates>(gradient_.input(0), gradient_.input(1));
    return summed_;
  }
  // The present value of the variable or of a slot.
  FLOWGRAPH_CONSTEXPR ref value(ref state) {
    if (!is_sparse()) return state;
    return emit<ops::embedding_lookup>(state, indices());
  }
  constexpr ref value() { return value(variable); }

  // A variable of the same shape that the rule keeps from step to step: "w1/momentum".
  constexpr ref slot(std::string_view suffix, double initial) {
    return detail::add_state(round_.graph, variable.get().shape, variable.type(), initial, name_, suffix);
  }
  constexpr ref slot(const char* suffix, double initial) { return slot(detail::text_view(suffix), initial); }
  // state = next, of a slot or of the variable itself.
  FLOWGRAPH_CONSTEXPR void set(ref state, ref next) {
    if (!is_sparse()) return run(emit<ops::assign>(state, next));
    run(emit<ops::scatter_add>(state, indices(), once(next - value(state))));
  }
  // variable -= by
  FLOWGRAPH_CONSTEXPR void subtract(ref by) {
    if (!is_sparse()) return run(emit<ops::assign_sub>(variable, by));
    run(emit<ops::scatter_sub>(variable, indices(), once(by)));
  }
  constexpr void run(ref update) { round_.updates.push(update.id); }

  // The number of this step, from 1, as a double: powers of it lose nothing.
  constexpr ref step() { return round_.scalar_as(round_.steps_done(), dtype::float64) + 1.0; }
  constexpr ref in_type(ref scalar) { return round_.scalar_as(scalar, variable.type()); }

 private:
  // Rows that are the first of their index; others, and those of none, are 0 whatever a rule makes of their gradient of
  // 0: 0 / (sqrt(0) + epsilon) is no number where epsilon is 0, which 1e-8 is in 16 bits.
  FLOWGRAPH_CONSTEXPR ref once(ref rows) {
    if (!first_) first_ = detail::is_first_of_each(gradient_.input(0), gradient_.input(1));
    return emit<ops::select>(first_, rows, ops::scalar_like(rows, 0));
  }

  update_round& round_;
  ref gradient_;
  text_range name_;
  ref indices_, summed_, first_;
};

namespace detail {

constexpr bool finite_positive(double x) { return x > 0 && x - x == 0; }
constexpr bool finite_or_zero(double x) { return x == 0 || finite_positive(x); }
constexpr bool within(double x, double low, double below) { return x >= low && x < below; }

// Stands for a learning rate that is none, or is missing; the compiler has reported it.
template <class T>
constexpr bool refuse_rate() {
  mistake<problem::rate_kind, T>();
  return true;
}
struct no_rate {
  constexpr no_rate() = default;
  template <class T>
  constexpr no_rate(const T&) noexcept(refuse_rate<T>()) {}
};
template <class Rate>
constexpr Rate missing_rate() {
  mistake<problem::rate_kind, Rate>();
  return {};
}
template <class T>
concept not_a_rate = !number<T> && !std::is_class_v<T>;

// Rates: a number, a scalar tensor, or a schedule: a function from the steps done, a tensor<float>, to a scalar tensor.
template <class Rate>
constexpr problem check_rate(const Rate& rate) {
  if constexpr (number<Rate>)
    return finite_positive(static_cast<double>(rate)) ? problem::none : problem::learning_rate;
  else
    return problem::none;
}
template <class Rate>
constexpr ref rate_scalar(update_round& r, const Rate& rate, ref like) {
  if constexpr (number<Rate>) {
    return ops::scalar_like(like, static_cast<double>(rate));
  } else if constexpr (any_tensor<Rate>) {
    if (rate.graph != &r.graph) r.graph.fail(problem::different_graphs, "rate");
    return r.scalar_as({rate.graph, rate.id}, like.type());
  } else if constexpr (!requires(tensor<float> done) { rate(done); }) {
    if constexpr (!std::is_same_v<Rate, no_rate> && !is_unknown<Rate>) mistake<problem::rate_kind, Rate>();
    return ops::scalar_like(like, 1);
  } else {
    const ref done = r.scalar_as(r.steps_done(), dtype::float32);
    const auto scheduled = rate(tensor<float>{&r.graph, done.id});
    static_assert(scalar_tensor<decltype(scheduled)> && floating_tensor<decltype(scheduled)>,
                  "a schedule must give a floating-point scalar tensor");
    return r.scalar_as({&r.graph, scheduled.id}, like.type());
  }
}

// Every trainable variable that the loss depends on, with its gradient.
FLOWGRAPH_CONSTEXPR gradient_list gradients_of_variables(graph_data& g, int loss) {
  const int size = loss + 1;
  vec<bool> reached(size);
  reached[loss] = true;
  for (int i = loss; i > 0; --i) {
    if (!reached.data[i]) continue;
    const node& x = g.nodes.data[i];
    const int* in = g.edges.data + x.inputs;
    for (int k = 0; k < x.n_inputs; ++k) reached.data[in[k]] = true;
  }
  vec<int> variables;
  for (int i = 0; i < size; ++i)
    if (reached.data[i] && g.nodes.data[i].op->id == ops::variable::id && is_floating(g.nodes.data[i].type) &&
        ref{&g, i}.attrs<ops::variable::attrs>().trainable)
      variables.push(i);
  if (variables.empty()) g.fail(problem::no_variables, "minimize");

  vec<int> gradients(variables.size());
  passes::gradient(g, loss, variables.begin(), variables.size(), gradients.begin());
  gradient_list list;
  list.graph = &g;
  for (int k = 0; k < variables.size(); ++k) list.entries.push({variables[k], gradients[k]});
  return list;
}

// The first name of each variable of a list.
FLOWGRAPH_CONSTEXPR vec<text_range> names_of(const gradient_list& list) {
  const graph_data& g = *list.graph;
  int size = 0;
  for (const gradient_list::entry& e : list.entries) size = e.variable < size ? size : e.variable + 1;
  vec<text_range> of_node(size), names(list.size());
  for (int i = g.names.size(); i-- > 0;)
    if (g.names[i].node < size) of_node[g.names[i].node] = g.names[i].text;
  for (int k = 0; k < list.size(); ++k) names[k] = of_node[list.entries[k].variable];
  return names;
}

template <class Optimizer>
constexpr operation apply_rule(const Optimizer& rule, const gradient_list& list) {
  graph_data& g = *list.graph;
  const source where = g.where;
  const int device = g.device;
  const bool asked = asks_for_devices(g);
  const bool at_end = g.at_end;
  g.at_end = g.current_region == 0;
  const vec<text_range> names = names_of(list);
  update_round round(g, Optimizer::name);
  ref rate;
  for (int k = 0; k < list.size(); ++k) {
    const int variable = list.entries[k].variable;  // with its state, and what updates both
    g.device = asked ? beside(g, variable) : 0;
    if (!rate || rate.type() != list.variable(k).type()) rate = rate_scalar(round, rule.rate, list.variable(k));
    update_step step(round, list.variable(k), list.gradient(k), rate, names[k]);
    rule.update(step);
  }
  g.device = device;
  round.count_step();
  g.where = where;
  const int all = ops::append_group(g, round.updates.begin(), round.updates.size());
  g.at_end = at_end;
  g.note_update(all, Optimizer::name);
  return {&g, all};
}

}  // namespace detail

#define FLOWGRAPH_CONST_MISUSE(name, concept_of_arguments, sentence)                             \
  template <class... X>                                                                          \
    requires detail::concept_of_arguments<X...>                                                  \
  constexpr auto name(const X&... x) const {                                                     \
    if constexpr (!(detail::is_unknown<X> || ...)) static_assert(detail::given<X...>, sentence); \
    return detail::unknown_among(x...);                                                          \
  }

namespace detail {

template <class... X>
inline constexpr bool gradients_first = false;
template <class A, class... X>
inline constexpr bool gradients_first<A, X...> = std::is_same_v<A, gradient_list>;
template <class... X>
concept no_gradients_first = !gradients_first<X...>;

}  // namespace detail

// Base of every optimizer:
//   template <class Rate>
//   struct mine : fg::optimizer<mine<Rate>> {
//     static constexpr std::string_view name = "mine";
//     Rate rate;
//     constexpr void update(fg::update_step& s) const { s.subtract(s.gradient() * s.rate); }
//   };
// An optional `constexpr fg::problem check() const` refuses parameters that make no sense.
template <class Self>
struct optimizer {
  // One operation that moves every trainable variable that the loss depends on.
  template <any_tensor Loss>
  [[nodiscard("an update runs where it has a name, or is fetched")]] constexpr auto minimize(const Loss& loss,
                                                                                             caller where = {}) const {
    return apply_gradients(compute_gradients(loss, where), where);
  }

  // A gradient_list. The type is deduced, so that g++ reports a mistake where the user made it.
  template <any_tensor Loss>
  constexpr auto compute_gradients(const Loss& loss, caller where = {}) const {
    if constexpr (rank_v<Loss> != 0) detail::mistake<problem::loss_not_scalar, tensor_t<Loss>>();
    if constexpr (!floating_tensor<Loss>) detail::mistake<problem::loss_not_floating, tensor_t<Loss>>();
    loss.graph->where = where;
    if constexpr (rank_v<Loss> == 0 && floating_tensor<Loss>) {
      return detail::gradients_of_variables(*loss.graph, loss.id);
    } else {
      gradient_list none;
      none.graph = loss.graph;
      return none;
    }
  }

  [[nodiscard("an update runs where it has a name, or is fetched")]] constexpr operation apply_gradients(
      const gradient_list& list, caller where = {}) const {
    list.graph->where = where;
    const auto& self = static_cast<const Self&>(*this);
    problem p = detail::check_rate(self.rate);
    if constexpr (requires { self.check(); })
      if (p == problem::none) p = self.check();
    if (p != problem::none) list.graph->fail(p, Self::name);
    return detail::apply_rule(self, list);
  }

  // Calls that fit none of these.
  FLOWGRAPH_CONST_MISUSE(minimize, no_tensor_first,
                         "minimize takes a loss, which is a scalar tensor, as in minimize(loss)")
  FLOWGRAPH_CONST_MISUSE(compute_gradients, no_tensor_first,
                         "compute_gradients takes a loss, which is a scalar tensor, as in compute_gradients(loss)")
  FLOWGRAPH_CONST_MISUSE(
      apply_gradients, no_gradients_first,
      "apply_gradients takes what compute_gradients gives, as in apply_gradients(compute_gradients(loss))")
};

#undef FLOWGRAPH_CONST_MISUSE

}  // namespace flowgraph
