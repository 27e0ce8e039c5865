// Functions of two operands beyond arithmetic.
#pragma once
#include "unary.hpp"

namespace flowgraph::ops {

// Where the operands are equal each gets half of the gradient, as in PyTorch and JAX.
template <class Wins>
constexpr void extremum_gradient(gradient_step& g) {
  const ref a = g.in(0), b = g.in(1), dy = g.dy();
  const ref half = emit<select>(emit<equal>(a, b), scalar_like(dy, 0.5), scalar_like(dy, 0));
  const ref by_a = dy * emit<select>(emit<Wins>(a, b), scalar_like(dy, 1), half);
  if (g.wants(0)) g.to(0, sum_to(by_a, a));
  if (g.wants(1)) g.to(1, sum_to(dy - by_a, b));
}

struct maximum : binary<maximum, "maximum", scalar::maximum> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::commutative;
  static constexpr double fold(const double* x) { return x[0] > x[1] ? x[0] : x[1]; }
  static constexpr void gradient(gradient_step& g) { extremum_gradient<greater>(g); }
};
struct minimum : binary<minimum, "minimum", scalar::minimum> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::commutative;
  static constexpr double fold(const double* x) { return x[0] < x[1] ? x[0] : x[1]; }
  static constexpr void gradient(gradient_step& g) { extremum_gradient<less>(g); }
};

struct floordiv : binary<floordiv, "floordiv", scalar::floordiv> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::zero_gradient;
};
// a - floor(a/b) b
struct mod : binary<mod, "mod", scalar::mod> {
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.wants(0)) g.to(0, sum_to(g.dy(), g.in(0)));
    if (g.wants(1)) g.to(1, sum_to(-(g.dy() * emit<floordiv>(g.in(0), g.in(1))), g.in(1)));
  }
};

struct pow : binary<pow, "pow", scalar::pow> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    binary::infer(f);
  }
  // by x: y x^(y-1), exact at x = 0; by y: x^y log x, and 0 where x = 0
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref x = g.in(0), y = g.in(1), dy = g.dy();
    if (g.wants(0)) g.to(0, sum_to(dy * (y * emit<pow>(x, y - 1.0)), x));
    if (g.wants(1)) {
      const ref zero = scalar_like(x, 0), positive = emit<not_equal>(x, zero);
      const ref safe = emit<select>(positive, x, scalar_like(x, 1));
      g.to(1, sum_to(dy * (g.y() * emit<log>(safe)), y));
    }
  }
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    if (is_constant(r.in(1), 2) && r.in(0).get().shape == r.self.get().shape) return emit<square>(r.in(0)).id;
    return unless_neutral(r, 0, 1, 1);
  }
};

}  // namespace flowgraph::ops
