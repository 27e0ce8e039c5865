// Reductions over axes, beyond the sum. Attributes and shape rule are those of reduce_sum.
#pragma once
#include <cstdint>

#include "unary.hpp"

namespace flowgraph::ops {

// A reduction's result, or a gradient of its shape, with the reduced axes as extent 1: it broadcasts against the
// operand.
FLOWGRAPH_CONSTEXPR ref with_reduced_axes(ref value, ref operand, const reduce_attrs& a) {
  if (a.keep) return value;
  const extents kept = reduced(operand.shape(), {a.axes, 1});
  return kept == value.shape() ? value : emit_as<reshape>(kept, value.type(), value);
}

template <class Self, fixed_string Name>
struct reduction : op<Self, Name> {
  using attrs = reduce_attrs;
  static constexpr trait traits = trait::absorbs;
  static constexpr std::int64_t flops(const cost_query& q) { return reduce_sum::flops(q); }
};

// Of anything but booleans. Of single elements it is its operand.
template <class Self, fixed_string Name>
struct number_reduction : reduction<Self, Name> {
  static constexpr void infer(inference& f) {
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    infer_reduction(f);
  }
  static constexpr int simplify(rewriter& r) { return reduce_sum::simplify(r); }
};

// Where several elements are the extremum, each gets an equal part of the gradient, as in JAX and PyTorch.
template <class Self, fixed_string Name>
struct extremum : number_reduction<Self, Name> {
  static constexpr void gradient(gradient_step& g) {
    const reduce_attrs a = g.attrs<reduce_attrs>();
    const ref x = g.in(0), y = with_reduced_axes(g.y(), x, a), dy = with_reduced_axes(g.dy(), x, a);
    const ref is_extremum = emit<equal>(x, y);
    const ref ties = emit<reduce_sum>({a.axes, 1}, emit_as<cast>(x.shape(), x.type(), is_extremum));
    g.to(0, emit<select>(is_extremum, dy / ties, scalar_like(dy, 0)));
  }
};
struct reduce_max : extremum<reduce_max, "reduce_max"> {};  // NaN wins
struct reduce_min : extremum<reduce_min, "reduce_min"> {};

// The gradient of sum_i g_i product_of_others(x)_i: h_k = sum_{i != k} g_i prod_{j != i, k} x_j. Linear in g with a
// symmetric matrix, so it is also its own gradient by g.
struct product_of_others_gradient : op<product_of_others_gradient, "product_of_others_gradient"> {
  using attrs = reduce_attrs;
  static constexpr void infer(inference& f) { f.out(f.in(0), f.type(0)); }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.wants(0)) g.graph.fail(problem::no_gradient, "reduce_prod, third derivative");
    if (g.wants(1)) g.to(1, emit<product_of_others_gradient>(g.attrs<attrs>(), g.in(0), g.dy()));
  }
};

// y_i = prod_{j != i} x_j within each group of elements that a reduction would multiply. Not prod / x_i, which fails
// at zeros.
struct product_of_others : op<product_of_others, "product_of_others"> {
  using attrs = reduce_attrs;
  static constexpr void infer(inference& f) { f.out(f.in(0), f.type(0)); }
  static constexpr void gradient(gradient_step& g) {
    g.to(0, emit<product_of_others_gradient>(g.attrs<attrs>(), g.in(0), g.dy()));
  }
};

struct reduce_prod : number_reduction<reduce_prod, "reduce_prod"> {
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    g.to(0, with_reduced_axes(g.dy(), g.in(0), a) * emit<product_of_others>(a, g.in(0)));
  }
};

template <class Self, fixed_string Name>
struct truth_reduction : reduction<Self, Name> {
  static constexpr void infer(inference& f) {
    f.require(f.type(0) == dtype::boolean, problem::needs_boolean);
    infer_reduction(f);
  }
  static constexpr int simplify(rewriter& r) { return reduce_sum::simplify(r); }
};
struct reduce_any : truth_reduction<reduce_any, "reduce_any"> {};
struct reduce_all : truth_reduction<reduce_all, "reduce_all"> {};

template <class Self, fixed_string Name>
struct real_reduction : reduction<Self, Name> {
  static constexpr void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    infer_reduction(f);
  }
};

// log(sum(exp(x))) without overflow.
struct logsumexp : real_reduction<logsumexp, "logsumexp"> {
  // dy softmax(x) = dy exp(x - y). Where all x are -infinity so is y, and x - y would be NaN; the gradient is 0.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    const ref x = g.in(0), y = with_reduced_axes(g.y(), x, a);
    const ref shift = emit<select>(emit<isfinite>(y), y, scalar_like(y, 0));
    g.to(0, with_reduced_axes(g.dy(), x, a) * emit<exp>(x - shift));
  }
};

// The Euclidean length, sqrt(sum(x^2)).
struct norm : real_reduction<norm, "norm"> {
  // dy x / y, and 0 at the origin, where x is 0 and only the division has to be kept from 0/0.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    const ref x = g.in(0), y = with_reduced_axes(g.y(), x, a);
    const ref divisor = emit<select>(emit<equal>(y, scalar_like(y, 0)), scalar_like(y, 1), y);
    g.to(0, x * (with_reduced_axes(g.dy(), x, a) / divisor));
  }
};

}  // namespace flowgraph::ops
