// What all element-wise ops share: NumPy's broadcasting rule and the forms an op can have.
#pragma once
#include <flowgraph/graph/builder.hpp>
#include "reduce_sum.hpp"
#include "reshape.hpp"
#include "scalar_functions.hpp"
#include "sources.hpp"

namespace flowgraph::ops {

// From the back, two extents are equal or one of them is 1; a missing one counts as 1.
FLOWGRAPH_CONSTEXPR extents broadcast(inference& f, const extents& a, const extents& b) {
  extents r;
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < r.rank; ++i) {
    const extent x = i < a.rank ? a.last(i) : 1, y = i < b.rank ? b.last(i) : 1;
    f.require(x == y || x == 1 || y == 1, problem::broadcast);
    r.d[r.rank - 1 - i] = x == 1 ? y : x;
  }
  return r;
}

// One scalar function over one operand. Floating: integers are rejected.
template <class Self, fixed_string Name, class Function, bool Floating = true>
struct unary : op<Self, Name> {
  using function = Function;
  static constexpr bool shape_preserving = true;
  static constexpr trait traits = trait::elementwise | trait::in_place;
  static constexpr void infer(inference& f) {
    if constexpr (Floating)
      f.require(is_floating(f.type(0)), problem::needs_floating);
    else
      f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    f.out(f.in(0), f.type(0));
  }
};

// One scalar function over two operands of one type.
template <class Self, fixed_string Name, class Function>
struct binary : op<Self, Name> {
  using function = Function;
  static constexpr bool shape_preserving = true;
  static constexpr trait traits = trait::elementwise | trait::in_place;
  static constexpr void infer(inference& f) {
    f.require(f.type(0) == f.type(1), problem::dtypes_differ);
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    f.out(broadcast(f, f.in(0), f.in(1)), f.type(0));
  }
};

// As binary, with a truth value for each pair.
template <class Self, fixed_string Name, class Function>
struct comparison : op<Self, Name> {
  using function = Function;
  static constexpr trait traits = trait::elementwise;
  static constexpr void infer(inference& f) {
    f.require(f.type(0) == f.type(1), problem::dtypes_differ);
    f.out(broadcast(f, f.in(0), f.in(1)), dtype::boolean);
  }
};

// Truth values in, truth values out.
template <class Self, fixed_string Name, class Function>
struct logical : op<Self, Name> {
  using function = Function;
  static constexpr trait traits = trait::elementwise | trait::in_place;
  static constexpr void infer(inference& f) {
    for (int i = 0; i < f.operands(); ++i) f.require(f.type(i) == dtype::boolean, problem::needs_boolean);
    f.out(f.operands() == 1 ? f.in(0) : broadcast(f, f.in(0), f.in(1)), dtype::boolean);
  }
};

}  // namespace flowgraph::ops
