// What each element-wise op computes, once. A function is written against a math vocabulary M and works on plain
// scalars, on as many as the processor computes at once and, being C++17 without includes, in a .cu file. Results of
// comparisons are boolean; where a branch is needed it is m.select, which all of them can do.
#pragma once

namespace flowgraph::scalar {

#define FLOWGRAPH_UNARY(name, expression)                 \
  struct name {                                           \
    template <class M, class X>                           \
    static constexpr auto apply(const M& m, const X& x) { \
      (void)m;                                            \
      return expression;                                  \
    }                                                     \
  };
#define FLOWGRAPH_BINARY(name, expression)                            \
  struct name {                                                       \
    template <class M, class X, class Y>                              \
    static constexpr auto apply(const M& m, const X& x, const Y& y) { \
      (void)m;                                                        \
      return expression;                                              \
    }                                                                 \
  };

FLOWGRAPH_UNARY(identity, x)
FLOWGRAPH_UNARY(neg, -x)
FLOWGRAPH_UNARY(abs, m.abs(x))
FLOWGRAPH_UNARY(sign, m.sign(x))
FLOWGRAPH_UNARY(exp, m.exp(x))
FLOWGRAPH_UNARY(log, m.log(x))
FLOWGRAPH_UNARY(log1p, m.log1p(x))
FLOWGRAPH_UNARY(expm1, m.expm1(x))
FLOWGRAPH_UNARY(sqrt, m.sqrt(x))
FLOWGRAPH_UNARY(rsqrt, m.rsqrt(x))
FLOWGRAPH_UNARY(square, x* x)
FLOWGRAPH_UNARY(reciprocal, m.reciprocal(x))
FLOWGRAPH_UNARY(sin, m.sin(x))
FLOWGRAPH_UNARY(cos, m.cos(x))
FLOWGRAPH_UNARY(tan, m.tan(x))
FLOWGRAPH_UNARY(tanh, m.tanh(x))
FLOWGRAPH_UNARY(sigmoid, m.sigmoid(x))
FLOWGRAPH_UNARY(erf, m.erf(x))
FLOWGRAPH_UNARY(floor, m.floor(x))
FLOWGRAPH_UNARY(ceil, m.ceil(x))
FLOWGRAPH_UNARY(round, m.round(x))  // half to even
FLOWGRAPH_UNARY(relu, m.max(x, m.like(x, 0)))
FLOWGRAPH_UNARY(softplus, m.max(x, m.like(x, 0)) + m.log1p(m.exp(-m.abs(x))))
FLOWGRAPH_UNARY(isnan, m.isnan(x))
FLOWGRAPH_UNARY(isfinite, m.isfinite(x))
FLOWGRAPH_UNARY(logical_not, m.logical_not(x))

FLOWGRAPH_BINARY(add, x + y)
FLOWGRAPH_BINARY(sub, x - y)
FLOWGRAPH_BINARY(mul, x* y)
FLOWGRAPH_BINARY(div, m.div(x, y))
FLOWGRAPH_BINARY(floordiv, m.floordiv(x, y))  // rounds towards minus infinity
FLOWGRAPH_BINARY(mod, m.mod(x, y))            // has the sign of y
FLOWGRAPH_BINARY(pow, m.pow(x, y))
FLOWGRAPH_BINARY(maximum, m.max(x, y))  // NaN wins
FLOWGRAPH_BINARY(minimum, m.min(x, y))
FLOWGRAPH_BINARY(relu_gradient, m.select(m.less(m.like(y, 0), y), x, m.like(x, 0)))
FLOWGRAPH_BINARY(equal, m.equal(x, y))
FLOWGRAPH_BINARY(not_equal, m.not_equal(x, y))
FLOWGRAPH_BINARY(less, m.less(x, y))
FLOWGRAPH_BINARY(less_equal, m.less_equal(x, y))
FLOWGRAPH_BINARY(greater, m.less(y, x))
FLOWGRAPH_BINARY(greater_equal, m.less_equal(y, x))
FLOWGRAPH_BINARY(logical_and, m.logical_and(x, y))
FLOWGRAPH_BINARY(logical_or, m.logical_or(x, y))
FLOWGRAPH_BINARY(logical_xor, m.not_equal(x, y))

#undef FLOWGRAPH_UNARY
#undef FLOWGRAPH_BINARY

struct select {
  template <class M, class C, class X, class Y>
  static constexpr auto apply(const M& m, const C& condition, const X& x, const Y& y) {
    return m.select(condition, x, y);
  }
};

}  // namespace flowgraph::scalar
