// Changing variables by hand: what optimizers do for you. An update is an operation without a value. Reads of a
// variable and these writes happen in the order in which they were written down; those of optimizers at the end of the
// step.
#pragma once
#include <flowgraph/ops/state.hpp>
#include "elementwise.hpp"

namespace flowgraph {

namespace detail {

// After a mistake it is no operation.
template <class Op, class Update>
constexpr Update noted(Update u) {
  if constexpr (std::is_same_v<Update, operation>) u.graph->note_update(u.id, Op::name);
  return u;
}

template <class Op, class V, class X>
constexpr auto update_variable(source where, const V& v, const X& value) {
  if constexpr (!any_variable<V>) {
    mistake<problem::needs_variable, tensor_t<V>>();
    return operation{v.graph, v.id};
  } else if constexpr (any_tensor<X>) {
    return noted<Op>(call<Op>(where, as_tensor(v), as_tensor(value)));
  } else {
    if constexpr (!floating_tensor<V> && is_floating(dtype_of<X>))
      mistake<problem::literal_does_not_fit, tensor_t<V>, X>();
    const ops::constant::attrs everywhere{ops::number_word<element_t<V>>(value)};
    return noted<Op>(
        call<Op>(where, as_tensor(v), source_node<ops::constant, tensor_t<V>>(where, *v.graph, everywhere)));
  }
}

template <class Op, class V, class I, class R>
constexpr auto update_rows(source where, const V& v, const I& indices, const R& rows) {
  if constexpr (!any_variable<V>) {
    mistake<problem::needs_variable, tensor_t<V>>();
    return operation{v.graph, v.id};
  } else {
    return noted<Op>(call<Op>(where, as_tensor(v), as_tensor(indices), as_tensor(rows)));
  }
}

template <class T>
concept tensor_or_number = any_tensor<T> || number<T>;

}  // namespace detail

// v = value; v += value; v -= value. The value has the variable's shape, or is one number for every element.
template <any_tensor V, detail::tensor_or_number X>
constexpr auto assign(const V& v, const X& value, caller where = {}) {
  return detail::update_variable<ops::assign>(where, v, value);
}
template <any_tensor V, detail::tensor_or_number X>
constexpr auto assign_add(const V& v, const X& value, caller where = {}) {
  return detail::update_variable<ops::assign_add>(where, v, value);
}
template <any_tensor V, detail::tensor_or_number X>
constexpr auto assign_sub(const V& v, const X& value, caller where = {}) {
  return detail::update_variable<ops::assign_sub>(where, v, value);
}

// v[indices[i]] += rows[i], and so on: rows has the shape of the indices followed by that of a row of v.
template <any_tensor V, any_tensor I, any_tensor R>
constexpr auto scatter_add(const V& v, const I& indices, const R& rows, caller where = {}) {
  return detail::update_rows<ops::scatter_add>(where, v, indices, rows);
}
template <any_tensor V, any_tensor I, any_tensor R>
constexpr auto scatter_sub(const V& v, const I& indices, const R& rows, caller where = {}) {
  return detail::update_rows<ops::scatter_sub>(where, v, indices, rows);
}
template <any_tensor V, any_tensor I, any_tensor R>
constexpr auto scatter_update(const V& v, const I& indices, const R& rows, caller where = {}) {
  return detail::update_rows<ops::scatter_update>(where, v, indices, rows);
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(assign, 3, not_operands_first,
                 "assign takes a variable, then a tensor or a number, as in assign(v, value)")
FLOWGRAPH_MISUSE(assign_add, 3, not_operands_first,
                 "assign_add takes a variable, then a tensor or a number, as in assign_add(v, value)")
FLOWGRAPH_MISUSE(assign_sub, 3, not_operands_first,
                 "assign_sub takes a variable, then a tensor or a number, as in assign_sub(v, value)")
FLOWGRAPH_MISUSE(scatter_add, 4, not_three_tensors_first,
                 "scatter_add takes a variable, indices and rows, as in scatter_add(v, indices, rows)")
FLOWGRAPH_MISUSE(scatter_sub, 4, not_three_tensors_first,
                 "scatter_sub takes a variable, indices and rows, as in scatter_sub(v, indices, rows)")
FLOWGRAPH_MISUSE(scatter_update, 4, not_three_tensors_first,
                 "scatter_update takes a variable, indices and rows, as in scatter_update(v, indices, rows)")

}  // namespace flowgraph
