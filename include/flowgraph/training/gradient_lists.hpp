// What may happen to gradients between compute_gradients and apply_gradients: clipping, weight decay, adding up over
// several steps. Sparse gradients stay sparse where the maths allow it.
//   const auto adam = fg::adam(1e-3);
//   g.name("train", adam.apply_gradients(fg::clip_by_global_norm(adam.compute_gradients(loss), 1.0)));
#pragma once
#include <flowgraph/ops/binary.hpp>
#include <flowgraph/ops/reduce_sum.hpp>
#include "optimizer.hpp"

namespace flowgraph {

namespace detail {

// f(values) instead of the gradient's values: all of them, or those of its rows. `together`: f is not linear, so rows
// of equal index are added up before.
template <class F>
constexpr ref map_gradient(ref gradient, bool together, const F& f) {
  if (!gradient.is(op_def_of<ops::indexed_slices>)) return f(gradient);
  const ref indices = gradient.input(0);
  const ref rows = together ? emit<ops::sum_duplicates>(indices, gradient.input(1)) : gradient.input(1);
  return ops::slices_like(gradient, indices, f(rows));
}
template <class F>
constexpr gradient_list map_gradients(gradient_list list, bool together, const F& f) {
  for (gradient_list::entry& e : list.entries) e.gradient = map_gradient({list.graph, e.gradient}, together, f).id;
  return list;
}

FLOWGRAPH_CONSTEXPR ref sum_of_squares(ref gradient) {
  ref total;
  (void)map_gradient(gradient, true, [&](ref g) {
    ops::reduce_attrs all{};
    for (int i = 0; i < g.rank(); ++i) all.axes |= std::int64_t{1} << i;
    total = emit<ops::reduce_sum>(all, emit<ops::square>(g));
    return g;
  });
  return total;
}

// 1 where the norm is at most `most`, else what scales it down to that.
constexpr ref scale_to(ref norm, double most) { return most / emit<ops::maximum>(norm, ops::scalar_like(norm, most)); }

constexpr void require(const gradient_list& list, bool ok, problem why, std::string_view function, caller where) {
  if (ok) return;
  list.graph->where = where;
  list.graph->fail(why, function);
}

}  // namespace detail

// Every element between low and high.
FLOWGRAPH_CONSTEXPR gradient_list clip_by_value(const gradient_list& list, double low, double high, caller where = {}) {
  detail::require(list, low <= high, problem::clip_bounds, "clip_by_value", where);
  return detail::map_gradients(list, true, [&](ref g) {
    return emit<ops::minimum>(emit<ops::maximum>(g, ops::scalar_like(g, low)), ops::scalar_like(g, high));
  });
}

// Each gradient scaled down to this Euclidean norm, which is above 0, if its own is greater.
FLOWGRAPH_CONSTEXPR gradient_list clip_by_norm(const gradient_list& list, double most, caller where = {}) {
  detail::require(list, detail::finite_positive(most), problem::hyper_parameter, "clip_by_norm", where);
  gradient_list result = list;
  for (gradient_list::entry& e : result.entries) {
    const ref gradient{list.graph, e.gradient};
    const ref scale = detail::scale_to(emit<ops::sqrt>(detail::sum_of_squares(gradient)), most);
    e.gradient = detail::map_gradient(gradient, false, [&](ref g) { return g * scale; }).id;
  }
  return result;
}

// The norm of all gradients as one vector.
FLOWGRAPH_CONSTEXPR ref global_norm(const gradient_list& list) {
  ref total = detail::sum_of_squares(list.gradient(0));
  for (int k = 1; k < list.size(); ++k)
    total = total + detail::scalar_cast(detail::sum_of_squares(list.gradient(k)), total.type());
  return emit<ops::sqrt>(total);
}

// All gradients scaled by one number, so that their global norm is at most this.
FLOWGRAPH_CONSTEXPR gradient_list clip_by_global_norm(const gradient_list& list, double most, caller where = {}) {
  detail::require(list, detail::finite_positive(most), problem::hyper_parameter, "clip_by_global_norm", where);
  const ref scale = detail::scale_to(global_norm(list), most);
  return detail::map_gradients(list, false, [&](ref g) { return g * detail::scalar_cast(scale, g.type()); });
}

// g + decay w: the gradient of the loss plus decay/2 |w|^2. Of an embedding only the rows that were looked up.
FLOWGRAPH_CONSTEXPR gradient_list add_weight_decay(const gradient_list& list, double decay, caller where = {}) {
  detail::require(list, detail::finite_or_zero(decay), problem::hyper_parameter, "add_weight_decay", where);
  gradient_list result = list;
  for (int k = 0; k < list.size(); ++k) {
    const ref w = list.variable(k), g = list.gradient(k);
    if (list.is_sparse(k)) {
      const ref indices = g.input(0), first = detail::first_of_each(indices, g.input(1));  // each row once
      const ref rows = g.input(1) + emit<ops::embedding_lookup>(w, ops::indices_of(g)) * first * decay;
      result.entries[k].gradient = ops::slices_like(g, indices, rows).id;
    } else {
      result.entries[k].gradient = (g + w * decay).id;
    }
  }
  return result;
}

// Gradients of several steps as if they were one large batch: run `add` for each part, then `apply` once.
//   fg::gradient_accumulator sums(sgd.compute_gradients(loss));
//   g.name("add", sums.add());  g.name("apply", sums.apply(sgd));
class gradient_accumulator {
 public:
  constexpr explicit gradient_accumulator(const gradient_list& list, caller where = {}) : list_(list) {
    graph_data& g = *list.graph;
    g.where = where;
    const detail::vec<text_range> names = detail::names_of(list);
    for (int k = 0; k < list.size(); ++k) {
      const ref v = list.variable(k);
      sums_.push(detail::add_state(g, v.get().shape, v.type(), 0, names[k], "accumulated").id);
    }
    count_ = detail::add_state(g, 0, dtype::float32, 0, g.store("accumulated"), "steps").id;
  }

  FLOWGRAPH_CONSTEXPR operation add() const {
    graph_data& g = *list_.graph;
    detail::vec<int> updates;
    for (int k = 0; k < list_.size(); ++k) {
      const ref gradient = list_.gradient(k), sum{&g, sums_[k]};
      const ref update = list_.is_sparse(k)
                             ? emit<ops::scatter_add>(sum, ops::indices_of(gradient), ops::rows_of(gradient))
                             : emit<ops::assign_add>(sum, gradient);
      updates.push(update.id);
    }
    const ref count{&g, count_};
    updates.push(emit<ops::assign_add>(count, ops::scalar_like(count, 1)).id);
    return {&g, ops::append_group(g, updates.begin(), updates.size())};
  }

  // What was added since the last apply, on average.
  FLOWGRAPH_CONSTEXPR gradient_list mean() const {
    gradient_list result = list_;
    const ref count{list_.graph, count_};
    for (int k = 0; k < list_.size(); ++k) {
      const ref sum{list_.graph, sums_[k]};
      result.entries[k].gradient = (sum / detail::scalar_cast(count, sum.type())).id;
    }
    return result;
  }

  // Moves the variables by the mean gradient, then begins anew.
  template <class Optimizer>
  constexpr operation apply(const Optimizer& optimizer, caller where = {}) const {
    graph_data& g = *list_.graph;
    const operation applied = optimizer.apply_gradients(mean(), where);
    g.push_control(applied.id);
    detail::vec<int> resets;
    for (const int s : sums_) resets.push(emit<ops::assign>(ref{&g, s}, ops::full_like({&g, s}, 0)).id);
    resets.push(emit<ops::assign>(ref{&g, count_}, ops::full_like({&g, count_}, 0)).id);
    g.pop_controls(1);
    return {&g, ops::append_group(g, resets.begin(), resets.size())};
  }

 private:
  gradient_list list_;
  detail::vec<int> sums_;
  int count_ = -1;
};

// Of a tensor instead of a list of gradients.
#define FLOWGRAPH_MISUSE_OF_LIST(name)                                                                            \
  template <any_tensor T, class... X>                                                                             \
  constexpr auto name(const T& x, const X&...) {                                                                  \
    static_assert(detail::given<T>, #name                                                                         \
                  " takes an optimizer's list of gradients, as in " #name                                         \
                  "(adam.compute_gradients(loss), ...); elements of a tensor are limited by clip(x, low, high)"); \
    return detail::unknown_among(x);                                                                              \
  }
FLOWGRAPH_MISUSE_OF_LIST(clip_by_value)
FLOWGRAPH_MISUSE_OF_LIST(clip_by_norm)
FLOWGRAPH_MISUSE_OF_LIST(clip_by_global_norm)
#undef FLOWGRAPH_MISUSE_OF_LIST

}  // namespace flowgraph
