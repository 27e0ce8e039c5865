// Truth values: comparisons, logic, choosing by them, and the conversion between element types.
#pragma once
#include "arithmetic.hpp"

namespace flowgraph::ops {

struct equal : comparison<equal, "equal", scalar::equal> {};
struct not_equal : comparison<not_equal, "not_equal", scalar::not_equal> {};
struct less : comparison<less, "less", scalar::less> {};
struct less_equal : comparison<less_equal, "less_equal", scalar::less_equal> {};
struct greater : comparison<greater, "greater", scalar::greater> {};
struct greater_equal : comparison<greater_equal, "greater_equal", scalar::greater_equal> {};

struct logical_and : logical<logical_and, "logical_and", scalar::logical_and> {};
struct logical_or : logical<logical_or, "logical_or", scalar::logical_or> {};
struct logical_xor : logical<logical_xor, "logical_xor", scalar::logical_xor> {};
struct logical_not : logical<logical_not, "logical_not", scalar::logical_not> {};

template <class Self, fixed_string Name, class Function>
struct classification : op<Self, Name> {
  using function = Function;
  static constexpr trait traits = trait::elementwise;
  static constexpr void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    f.out(f.in(0), dtype::boolean);
  }
};
struct isnan : classification<isnan, "isnan", scalar::isnan> {};
struct isfinite : classification<isfinite, "isfinite", scalar::isfinite> {};

// condition ? a : b, element by element.
struct select : op<select, "select"> {
  using function = scalar::select;
  static constexpr trait traits = trait::elementwise;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.type(0) == dtype::boolean, problem::needs_boolean);
    f.require(f.type(1) == f.type(2), problem::dtypes_differ);
    f.out(broadcast(f, f.in(0), broadcast(f, f.in(1), f.in(2))), f.type(1));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref zero = scalar_like(g.dy(), 0);
    if (g.wants(1)) g.to(1, sum_to(emit<select>(g.in(0), g.dy(), zero), g.in(1)));
    if (g.wants(2)) g.to(2, sum_to(emit<select>(g.in(0), zero, g.dy()), g.in(2)));
  }
};

// To the declared element type. Floating-point to integer truncates; anything to bool is x != 0.
struct cast : op<cast, "cast"> {
  static constexpr trait traits = trait::elementwise;
  static constexpr void infer(inference& f) { f.out(f.in(0), f.declared_type()); }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit_like<cast>(g.in(0), g.dy())); }
  static constexpr int simplify(rewriter& r) { return r.in(0).type() == r.self.type() ? r.in(0).id : rewriter::keep; }
};

}  // namespace flowgraph::ops
