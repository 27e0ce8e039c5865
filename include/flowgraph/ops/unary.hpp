// Functions of one operand, each with its derivative. What a derivative can express through the result y it does:
// y is kept for the backward pass anyway.
#pragma once
#include "comparison.hpp"

namespace flowgraph::ops {

struct abs : unary<abs, "abs", scalar::abs, false> {
  static constexpr double fold(const double* x) { return x[0] < 0 ? -x[0] : x[0]; }
  static constexpr void gradient(gradient_step& g);
};
struct sign : unary<sign, "sign", scalar::sign, false> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::zero_gradient;
};
constexpr void abs::gradient(gradient_step& g) { g.to(0, g.dy() * emit<sign>(g.in(0))); }

struct square : unary<square, "square", scalar::square, false> {
  static constexpr double fold(const double* x) { return x[0] * x[0]; }
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * (g.in(0) * 2.0)); }
};
struct reciprocal : unary<reciprocal, "reciprocal", scalar::reciprocal> {
  static constexpr double fold(const double* x) { return quotient(1, x[0]); }
  static constexpr void gradient(gradient_step& g) { g.to(0, -(g.dy() * emit<square>(g.y()))); }
};
struct exp : unary<exp, "exp", scalar::exp> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * g.y()); }
};
struct expm1 : unary<expm1, "expm1", scalar::expm1> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * (g.y() + 1.0)); }
};
struct log : unary<log, "log", scalar::log> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() / g.in(0)); }
};
struct log1p : unary<log1p, "log1p", scalar::log1p> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() / (g.in(0) + 1.0)); }
};
struct sqrt : unary<sqrt, "sqrt", scalar::sqrt> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * 0.5 / g.y()); }
};
struct rsqrt : unary<rsqrt, "rsqrt", scalar::rsqrt> {
  // d x^-1/2 = -1/2 x^-3/2 dx
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * -0.5 * (g.y() / g.in(0))); }
};
struct sin : unary<sin, "sin", scalar::sin> {
  static constexpr void gradient(gradient_step& g);
};
struct cos : unary<cos, "cos", scalar::cos> {
  static constexpr void gradient(gradient_step& g) { g.to(0, -(g.dy() * emit<sin>(g.in(0)))); }
};
constexpr void sin::gradient(gradient_step& g) { g.to(0, g.dy() * emit<cos>(g.in(0))); }
struct tan : unary<tan, "tan", scalar::tan> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * (emit<square>(g.y()) + 1.0)); }
};
struct tanh : unary<tanh, "tanh", scalar::tanh> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * (1.0 - emit<square>(g.y()))); }
};
struct sigmoid : unary<sigmoid, "sigmoid", scalar::sigmoid> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * (g.y() * (1.0 - g.y()))); }
};
struct softplus : unary<softplus, "softplus", scalar::softplus> {
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy() * emit<sigmoid>(g.in(0))); }
};
struct erf : unary<erf, "erf", scalar::erf> {
  // 2/sqrt(pi) exp(-x^2)
  static constexpr void gradient(gradient_step& g) {
    g.to(0, g.dy() * (emit<exp>(-emit<square>(g.in(0))) * 1.1283791670955126));
  }
};

// y > 0 ? dy : 0, the derivative of relu.
struct relu_gradient : binary<relu_gradient, "relu_gradient", scalar::relu_gradient> {
  static constexpr void gradient(gradient_step& g) {
    if (g.wants(0)) g.to(0, emit<relu_gradient>(g.dy(), g.in(1)));
  }
};
struct relu : unary<relu, "relu", scalar::relu, false> {
  static constexpr double fold(const double* x) { return x[0] > 0 ? x[0] : 0; }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<relu_gradient>(g.dy(), g.y())); }
};

template <class Self, fixed_string Name, class Function>
struct rounding : unary<Self, Name, Function> {
  static constexpr trait traits = trait::elementwise | trait::in_place | trait::zero_gradient;
};
struct floor : rounding<floor, "floor", scalar::floor> {};
struct ceil : rounding<ceil, "ceil", scalar::ceil> {};
struct round : rounding<round, "round", scalar::round> {};

}  // namespace flowgraph::ops
