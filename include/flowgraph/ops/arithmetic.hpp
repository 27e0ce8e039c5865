// + - * / and negation, as ops and as operators on refs: what gradients are written with.
#pragma once
#include <bit>
#include <cstdint>

#include <flowgraph/core/special_values.hpp>
#include "elementwise.hpp"

namespace flowgraph::ops {

struct neg : unary<neg, "neg", scalar::neg, false> {
  static constexpr double fold(const double* x) { return -x[0]; }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<neg>(g.dy())); }
  static constexpr int simplify(rewriter& r) {
    return r.in(0).is(op_def_of<neg>) ? r.in(0).input(0).id : rewriter::keep;
  }
};

// The operand that stays when the other is neutral, if it has the result's shape already.
FLOWGRAPH_CONSTEXPR int unless_neutral(rewriter& r, int kept, int other, double neutral) {
  if (is_constant(r.in(other), neutral) && r.in(kept).get().shape == r.self.get().shape) return r.in(kept).id;
  return rewriter::keep;
}

struct add : binary<add, "add", scalar::add> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::commutative;
  static constexpr double fold(const double* x) { return x[0] + x[1]; }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.wants(0)) g.to(0, sum_to(g.dy(), g.in(0)));
    if (g.wants(1)) g.to(1, sum_to(g.dy(), g.in(1)));
  }
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    const int left = unless_neutral(r, 0, 1, 0);
    return left >= 0 ? left : unless_neutral(r, 1, 0, 0);
  }
};

struct sub : binary<sub, "sub", scalar::sub> {
  static constexpr double fold(const double* x) { return x[0] - x[1]; }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.wants(0)) g.to(0, sum_to(g.dy(), g.in(0)));
    if (g.wants(1)) g.to(1, sum_to(emit<neg>(g.dy()), g.in(1)));
  }
  static constexpr int simplify(rewriter& r) { return unless_neutral(r, 0, 1, 0); }
};

// Scaling by it is exact.
constexpr bool is_power_of_two(double x) {
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1, exponent = std::uint64_t{2047} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return (bits & fraction) == 0 && (bits & exponent) != 0 && (bits & exponent) != exponent;
}

struct mul : binary<mul, "mul", scalar::mul> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::commutative;
  static constexpr double fold(const double* x) { return x[0] * x[1]; }
  // d(ab) = da b + a db
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.wants(0)) g.to(0, sum_to(emit<mul>(g.dy(), g.in(1)), g.in(0)));
    if (g.wants(1)) g.to(1, sum_to(emit<mul>(g.dy(), g.in(0)), g.in(1)));
  }
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    const int left = unless_neutral(r, 0, 1, 1), right = left >= 0 ? left : unless_neutral(r, 1, 0, 1);
    if (right >= 0) return right;
    const int merged = merge_constants(r, 0, 1);
    return merged >= 0 ? merged : merge_constants(r, 1, 0);
  }

 private:
  // (x c) d = x (c d), where that is exact: the gradient of x^2 / 2 is (x 2) 0.5. A variable is left alone, because
  // what is read now may not be what was read there.
  static FLOWGRAPH_CONSTEXPR int merge_constants(rewriter& r, int product, int factor) {
    const ref y = r.in(product), d = r.in(factor);
    if (!is_scalar_constant(d) || !y.is(op_def_of<mul>) || y.get().n_control != 0 || !is_floating(d.type()))
      return rewriter::keep;
    const int at = is_scalar_constant(y.input(1)) ? 1 : 0;
    const ref c = y.input(at), x = y.input(1 - at);
    if (!is_scalar_constant(c) || x.is(op_def_of<variable>)) return rewriter::keep;
    const double by_c = value_of(c), by_d = value_of(d);
    if (!is_power_of_two(by_c) && !is_power_of_two(by_d)) return rewriter::keep;
    return emit<mul>(x, scalar_like(x, by_c * by_d)).id;
  }
  static constexpr bool is_scalar_constant(ref x) { return x.is(op_def_of<constant>) && x.get().shape == 0; }
  static constexpr double value_of(ref x) { return number_of(x.type(), x.attrs<constant::attrs>().word); }
};

// Not a number where the divisor is 0: then nothing is folded, and the program divides when it runs.
constexpr double quotient(double a, double b) { return b == 0 ? detail::not_a_number : a / b; }

// True division: floating-point only, as in Python; integers have floordiv.
struct div : binary<div, "div", scalar::div> {
  static constexpr double fold(const double* x) { return quotient(x[0], x[1]); }
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::integer_division);
    binary::infer(f);
  }
  // d(a/b) = da/b - (a/b) db/b
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref by_a = emit<div>(g.dy(), g.in(1));
    if (g.wants(0)) g.to(0, sum_to(by_a, g.in(0)));
    if (g.wants(1)) g.to(1, sum_to(emit<neg>(emit<mul>(by_a, g.y())), g.in(1)));
  }
  static constexpr int simplify(rewriter& r) { return unless_neutral(r, 0, 1, 1); }
};

}  // namespace flowgraph::ops

namespace flowgraph {

constexpr ref operator-(ref x) { return emit<ops::neg>(x); }
constexpr ref operator+(ref a, ref b) { return emit<ops::add>(a, b); }
constexpr ref operator-(ref a, ref b) { return emit<ops::sub>(a, b); }
constexpr ref operator*(ref a, ref b) { return emit<ops::mul>(a, b); }
constexpr ref operator/(ref a, ref b) { return emit<ops::div>(a, b); }
constexpr ref operator+(ref a, double b) { return a + ops::scalar_like(a, b); }
constexpr ref operator-(ref a, double b) { return a - ops::scalar_like(a, b); }
constexpr ref operator*(ref a, double b) { return a * ops::scalar_like(a, b); }
constexpr ref operator/(ref a, double b) { return a / ops::scalar_like(a, b); }
constexpr ref operator-(double a, ref b) { return emit<ops::sub>(ops::scalar_like(b, a), b); }
constexpr ref operator/(double a, ref b) { return emit<ops::div>(ops::scalar_like(b, a), b); }

}  // namespace flowgraph
