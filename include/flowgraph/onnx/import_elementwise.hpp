// How ONNX's element-wise ops are read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/ops/binary.hpp>
#include "node_import.hpp"

namespace flowgraph::onnx {

template <class Op>
void import_unary(node_import& n) {
  n.give(emit<Op>(n.in(0)));
}
template <class Op>
void import_binary(node_import& n) {
  n.give(emit<Op>(n.in(0), n.in(1)));
}
// Any number of operands, from the left.
template <class Op>
ref folded(node_import& n) {
  ref x = n.in(0);
  for (int k = 1; k < n.operands(); ++k) x = emit<Op>(x, n.in(k));
  return x;
}
template <class Op>
void import_folded(node_import& n) {
  n.give(folded<Op>(n));
}
inline void import_mean(node_import& n) { n.give(folded<ops::add>(n) / static_cast<double>(n.operands())); }

// Numbers of shapes, where both operands are such; names are computed with as far as extents go.
inline std::optional<known_number> combine(symbols& s, char op, const known_number& a, const known_number& b) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const auto small = [](const known_number& k) { return k.named || (k.n > -most && k.n < most); };
  if (!small(a) || !small(b)) return {};
  if (!a.named && !b.named) {
    if (op == '/') return b.n == 0 ? std::optional<known_number>{} : known_number{a.n / b.n};
    return known_number{op == '+' ? a.n + b.n : op == '-' ? a.n - b.n : a.n * b.n};
  }
  const auto result = [](extent e) { return known_number{e, e < 0}; };
  std::int64_t difference = 0;
  if (op == '-' && b.named) {
    if (a.named || a.n >= 0)
      if (s.known_difference(a.n, b.n, difference)) return known_number{difference};
    return a.named ? std::optional(result(s.sub(a.n, b.n))) : std::optional<known_number>{};
  }
  if (op == '-') return result(b.n >= 0 ? s.sub(a.n, b.n) : s.add(a.n, -b.n));
  if (op == '/') {
    if (!b.named && b.n > 0 && a.named) return result(s.floordiv(a.n, b.n));
    return a == b ? std::optional(known_number{1}) : std::optional<known_number>{};
  }
  const known_number &x = a.named ? a : b, &y = a.named ? b : a;  // x has a name
  if (op == '+') {
    if (!y.named) return result(y.n < 0 ? s.sub(x.n, -y.n) : s.add(x.n, y.n));
    detail::extent_polynomial sum(s.text(x.n));
    sum.add(detail::extent_polynomial(s.text(y.n)), 1);
    std::int64_t number = 0;  // it may be negative, and is no name then
    return sum.constant(number) ? known_number{number} : result(s.add(x.n, y.n));
  }
  if (!y.named && y.n < 0) return {};
  return result(s.mul(x.n, y.n));
}
inline bool combine_known(node_import& n, char op) {
  const auto *a = n.known(0), *b = n.known(1);
  if (a == nullptr || b == nullptr || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return false;
  const std::size_t count = std::max(a->size(), b->size());
  if (a->empty() || b->empty()) return false;
  std::vector<known_number> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto k = combine(n.graph.symbols, op, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!k || !n.can_name(*k)) return false;
    all.push_back(*k);
  }
  n.give_known(std::move(all), std::max(n.known_rank(0), n.known_rank(1)), n.known_type(0));
  return true;
}
template <class Op, char Symbol>
void import_arithmetic(node_import& n) {
  if (!combine_known(n, Symbol)) import_binary<Op>(n);
}
// Whether the floor of a / b, of integers, is not what is left when its fraction is cut off. Made of nothing that
// overflows: |a| does for the smallest of all.
inline ref floor_is_below(node_import& n, ref a, ref b, ref remainder) {
  const ref signs = emit<ops::logical_xor>(emit<ops::less>(a, n.scalar(a, 0)), emit<ops::less>(b, n.scalar(b, 0)));
  return emit<ops::logical_and>(signs, emit<ops::not_equal>(remainder, n.scalar(remainder, 0)));
}
// Integers are divided towards 0.
inline void import_div(node_import& n) {
  if (combine_known(n, '/')) return;
  const ref a = n.in(0), b = n.in(1);
  if (is_floating(a.type())) return n.give(a / b);
  const ref q = emit<ops::floordiv>(a, b);
  if (a.type() == dtype::uint8) return n.give(q);
  n.give(q + node_import::cast(floor_is_below(n, a, b, a - q * b), a.type()));
}
// fmod: the sign is that of a.
inline void import_mod(node_import& n) {
  const ref a = n.in(0), b = n.in(1), floored = emit<ops::mod>(a, b);
  if (n.integer("fmod", 0) == 0 || a.type() == dtype::uint8) return n.give(floored);
  if (is_floating(a.type())) return n.give(emit<ops::sign>(a) * emit<ops::mod>(emit<ops::abs>(a), emit<ops::abs>(b)));
  n.give(floored - b * node_import::cast(floor_is_below(n, a, b, floored), a.type()));
}
// Powers of integers go through double, which has them exactly up to 2^53.
inline void import_pow(node_import& n) {
  const ref x = n.in(0);
  const dtype within = is_floating(x.type()) ? x.type() : dtype::float64;
  const ref y = emit<ops::pow>(node_import::cast(x, within), node_import::cast(n.in(1), within));
  n.give(node_import::cast(y, x.type()));
}

inline void import_cast(node_import& n) {
  const dtype to = dtype_of_code(n.integer("to", 0));
  if (to == dtype::none)
    node_import::fail("the element type " + std::to_string(n.integer("to", 0)) + " of ONNX is not supported");
  if (n.known(0) != nullptr && (to == dtype::int64 || to == dtype::int32))
    return n.give_known(*n.known(0), n.known_rank(0), to);
  n.give(node_import::cast(n.in(0), to));
}
inline void import_isinf(node_import& n) {
  const ref x = n.floating(0);
  const bool positive = n.integer("detect_positive", 1) != 0, negative = n.integer("detect_negative", 1) != 0;
  const ref infinity = n.scalar(x, std::numeric_limits<double>::infinity());
  if (!positive && !negative) return n.give(n.table.filled(dtype::boolean, x.shape(), 0));
  n.give(emit<ops::equal>(positive && negative ? emit<ops::abs>(x) : positive ? x : -x, infinity));
}

// Activations, made of ops as ONNX defines them.
inline void import_clip(node_import& n) {
  ref x = n.in(0);
  if (n.has(1)) x = emit<ops::maximum>(x, n.in(1));
  if (n.has(2)) x = emit<ops::minimum>(x, n.in(2));
  n.give(x);
}
inline ref positive(node_import& n, ref x) { return emit<ops::greater>(x, n.scalar(x, 0)); }
inline ref elu_of(node_import& n, ref x, double alpha) {
  return emit<ops::select>(positive(n, x), x, emit<ops::expm1>(emit<ops::minimum>(x, n.scalar(x, 0))) * alpha);
}
// Below 0 times the slope; 0 itself is not multiplied, for the slope may be infinite.
inline ref sloped(node_import& n, ref x, ref below) {
  return emit<ops::select>(emit<ops::less>(x, n.scalar(x, 0)), below, x);
}
inline void import_leaky_relu(node_import& n) {
  const ref x = n.floating(0);
  n.give(sloped(n, x, x * n.number("alpha", 0.01)));
}
inline void import_prelu(node_import& n) {
  const ref x = n.floating(0);
  n.give(sloped(n, x, x * n.in(1)));
}
inline void import_elu(node_import& n) { n.give(elu_of(n, n.floating(0), n.number("alpha", 1))); }
inline void import_selu(node_import& n) {
  const double alpha = n.number("alpha", 1.67326319217681884765625),
               gamma = n.number("gamma", 1.05070102214813232421875);
  n.give(elu_of(n, n.floating(0), alpha) * gamma);
}
inline ref hard_sigmoid(node_import& n, ref x, double alpha, double beta) {
  return emit<ops::minimum>(emit<ops::maximum>(x * alpha + beta, n.scalar(x, 0)), n.scalar(x, 1));
}
inline void import_hard_sigmoid(node_import& n) {
  n.give(hard_sigmoid(n, n.floating(0), n.number("alpha", 0.2), n.number("beta", 0.5)));
}
inline void import_hard_swish(node_import& n) {
  const ref x = n.floating(0);
  n.give(x * hard_sigmoid(n, x, 1.0 / 6, 0.5));
}
inline void import_gelu(node_import& n) {
  const ref x = n.floating(0);
  if (n.text("approximate", "none") == "none")
    return n.give(x * ((emit<ops::erf>(x * 0.7071067811865476) + 1.0) * 0.5));
  const ref inner = (x + emit<ops::square>(x) * x * 0.044715) * 0.7978845608028654;
  n.give(x * ((emit<ops::tanh>(inner) + 1.0) * 0.5));
}
inline void import_softsign(node_import& n) {
  const ref x = n.floating(0);
  n.give(x / (emit<ops::abs>(x) + 1.0));
}
inline void import_mish(node_import& n) {
  const ref x = n.floating(0);
  n.give(x * emit<ops::tanh>(emit<ops::softplus>(x)));
}
// e^|x| / 2 and e^-|x| / 2: halves of the exponent, since e^x is infinite before cosh(x) is.
inline std::pair<ref, ref> half_exponentials(ref x) {
  const ref root = emit<ops::exp>(emit<ops::abs>(x) * 0.5);
  return {root * 0.5 * root, emit<ops::reciprocal>(root) * 0.5 / root};
}
inline void import_cosh(node_import& n) {
  const auto [large, small] = half_exponentials(n.floating(0));
  n.give(large + small);
}
// Near 0 the two exponentials cancel: with m = e^|x| - 1 it is (m + m / (m + 1)) / 2.
inline void import_sinh(node_import& n) {
  const ref x = n.floating(0), one = n.scalar(x, 1), size = emit<ops::abs>(x);
  const auto [large, small] = half_exponentials(x);
  const ref m = emit<ops::expm1>(emit<ops::minimum>(size, one));
  const ref y = emit<ops::select>(emit<ops::less>(size, one), (m + m / (m + 1.0)) * 0.5, large - small);
  n.give(emit<ops::select>(emit<ops::less>(x, n.scalar(x, 0)), -y, y));
}

inline constexpr import_rule elementwise_import_rules[] = {
    {"Neg", import_unary<ops::neg>},
    {"Abs", import_unary<ops::abs>},
    {"Sign", import_unary<ops::sign>},
    {"Exp", import_unary<ops::exp>},
    {"Log", import_unary<ops::log>},
    {"Sqrt", import_unary<ops::sqrt>},
    {"Reciprocal", import_unary<ops::reciprocal>},
    {"Sin", import_unary<ops::sin>},
    {"Cos", import_unary<ops::cos>},
    {"Tan", import_unary<ops::tan>},
    {"Tanh", import_unary<ops::tanh>},
    {"Sinh", import_sinh},
    {"Cosh", import_cosh},
    {"Sigmoid", import_unary<ops::sigmoid>},
    {"Softplus", import_unary<ops::softplus>},
    {"Erf", import_unary<ops::erf>},
    {"Relu", import_unary<ops::relu>},
    {"Floor", import_unary<ops::floor>},
    {"Ceil", import_unary<ops::ceil>},
    {"Round", import_unary<ops::round>},
    {"Not", import_unary<ops::logical_not>},
    {"IsNaN", import_unary<ops::isnan>},
    {"IsInf", import_isinf},
    {"Add", import_arithmetic<ops::add, '+'>},
    {"Sub", import_arithmetic<ops::sub, '-'>},
    {"Mul", import_arithmetic<ops::mul, '*'>},
    {"Div", import_div},
    {"Mod", import_mod},
    {"Pow", import_pow},
    {"Max", import_folded<ops::maximum>},
    {"Min", import_folded<ops::minimum>},
    {"Sum", import_folded<ops::add>},
    {"Mean", import_mean},
    {"Equal", import_binary<ops::equal>},
    {"Less", import_binary<ops::less>},
    {"LessOrEqual", import_binary<ops::less_equal>},
    {"Greater", import_binary<ops::greater>},
    {"GreaterOrEqual", import_binary<ops::greater_equal>},
    {"And", import_binary<ops::logical_and>},
    {"Or", import_binary<ops::logical_or>},
    {"Xor", import_binary<ops::logical_xor>},
    {"Where", [](node_import& n) { n.give(emit<ops::select>(n.in(0), n.in(1), n.in(2))); }},
    {"Cast", import_cast},
    {"Clip", import_clip},
    {"LeakyRelu", import_leaky_relu},
    {"PRelu", import_prelu},
    {"Elu", import_elu},
    {"Selu", import_selu},
    {"HardSigmoid", import_hard_sigmoid},
    {"HardSwish", import_hard_swish},
    {"Gelu", import_gelu},
    {"Softsign", import_softsign},
    {"Mish", import_mish},
};

}  // namespace flowgraph::onnx
