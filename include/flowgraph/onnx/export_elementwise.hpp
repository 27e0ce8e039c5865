// How ops that work element by element are written. Where ONNX has no op of the name, the ops that compute it without
// losing digits.
#pragma once
#include <cstdint>
#include <string>

#include <flowgraph/ops/binary.hpp>
#include "node_export.hpp"

namespace flowgraph::onnx {

// One ONNX op of the same meaning.
template <fixed_string Op>
void same_op(node_export& n) {
  n.give(n.emit(std::string(Op.view()), n.elementwise()));
}

inline void export_square(node_export& n) {
  const std::string x = n.elementwise()[0];
  n.give(n.emit("Mul", {x, x}));
}
inline void export_rsqrt(node_export& n) { n.give(n.emit("Reciprocal", {n.emit("Sqrt", n.elementwise())})); }
// tanh(x/2) (exp(x) + 1): neither end loses digits, near 0 none cancel.
inline void export_expm1(node_export& n) {
  const std::string x = n.elementwise()[0];
  const std::string t = n.emit("Tanh", {n.emit("Mul", {x, n.number(0.5)})});
  n.give(n.emit("Mul", {t, n.emit("Add", {n.emit("Exp", {x}), n.number(1)})}));
}
// With u = 1 + x as it is rounded: log(u) x / (u - 1), and x where u is 1. infinity is left to log.
inline void export_log1p(node_export& n) {
  const std::string x = n.elementwise()[0], one = n.number(1);
  const std::string u = n.emit("Add", {x, one}), log = n.emit("Log", {u}), distance = n.emit("Sub", {u, one});
  const std::string scaled = n.emit("Mul", {log, n.emit("Div", {x, distance})});
  const std::string infinite = n.emit("Equal", {x, u});
  n.give(n.emit("Where", {n.emit("Equal", {u, one}), x, n.emit("Where", {infinite, log, scaled})}));
}

// ONNX divides integers towards 0: one less where there is a remainder and the signs differ.
inline void export_floordiv(node_export& n) {
  const names x = n.elementwise();
  const std::string q = n.emit("Div", x);
  if (is_floating(n.type(0))) return n.give(n.emit("Floor", {q}));
  const std::string zero = n.number(0);
  const std::string rest = n.emit("Sub", {x[0], n.emit("Mul", {q, x[1]})});
  const std::string differ = n.emit("Xor", {n.emit("Less", {rest, zero}), n.emit("Less", {x[1], zero})});
  const std::string whole = n.emit("Equal", {rest, zero});
  const std::string less = n.emit("And", {differ, n.emit("Not", {whole})});
  n.give(n.emit("Sub", {q, n.cast(less, n.type(0))}));
}
// Of floating-point numbers ONNX has only the remainder with the sign of x; ours has that of y.
inline void export_mod(node_export& n) {
  const names x = n.elementwise();
  if (!is_floating(n.type(0))) return n.give(n.emit("Mod", x));
  const std::string rest = n.emit("Mod", x, {attribute("fmod", 1)}), zero = n.number(0);
  const std::string differ = n.emit("Less", {n.emit("Mul", {n.emit("Sign", {rest}), n.emit("Sign", {x[1]})}), zero});
  n.give(n.emit("Where", {differ, n.emit("Add", {rest, x[1]}), rest}));
}

// Truth values are compared as numbers.
template <fixed_string Op>
void export_order(node_export& n) {
  names x = n.elementwise();
  if (n.type(0) == dtype::boolean)
    for (std::string& each : x) each = n.cast(each, dtype::int32);
  n.give(n.emit(std::string(Op.view()), x));
}
inline void export_not_equal(node_export& n) { n.give(n.emit("Not", {n.emit("Equal", n.elementwise())})); }
// x - x is 0 where x is finite, and otherwise no number.
inline void export_isfinite(node_export& n) {
  const std::string x = n.elementwise()[0];
  n.give(n.emit("Not", {n.emit("IsNaN", {n.emit("Sub", {x, x})})}));
}
inline void export_cast(node_export& n) { n.give(n.cast(n.elementwise()[0], n.out_type())); }

inline constexpr export_rule elementwise_rules[] = {
    {ops::neg::id, same_op<"Neg">},
    {ops::abs::id, same_op<"Abs">},
    {ops::sign::id, same_op<"Sign">},
    {ops::square::id, export_square},
    {ops::reciprocal::id, same_op<"Reciprocal">},
    {ops::exp::id, same_op<"Exp">},
    {ops::expm1::id, export_expm1},
    {ops::log::id, same_op<"Log">},
    {ops::log1p::id, export_log1p},
    {ops::sqrt::id, same_op<"Sqrt">},
    {ops::rsqrt::id, export_rsqrt},
    {ops::sin::id, same_op<"Sin">},
    {ops::cos::id, same_op<"Cos">},
    {ops::tan::id, same_op<"Tan">},
    {ops::tanh::id, same_op<"Tanh">},
    {ops::sigmoid::id, same_op<"Sigmoid">},
    {ops::softplus::id, same_op<"Softplus">},
    {ops::erf::id, same_op<"Erf">},
    {ops::relu::id, same_op<"Relu">},
    {ops::floor::id, same_op<"Floor">},
    {ops::ceil::id, same_op<"Ceil">},
    {ops::round::id, same_op<"Round">},
    {ops::add::id, same_op<"Add">},
    {ops::sub::id, same_op<"Sub">},
    {ops::mul::id, same_op<"Mul">},
    {ops::div::id, same_op<"Div">},
    {ops::floordiv::id, export_floordiv},
    {ops::mod::id, export_mod},
    {ops::pow::id, same_op<"Pow">},
    {ops::maximum::id, same_op<"Max">},
    {ops::minimum::id, same_op<"Min">},
    {ops::equal::id, same_op<"Equal">},
    {ops::not_equal::id, export_not_equal},
    {ops::less::id, export_order<"Less">},
    {ops::less_equal::id, export_order<"LessOrEqual">},
    {ops::greater::id, export_order<"Greater">},
    {ops::greater_equal::id, export_order<"GreaterOrEqual">},
    {ops::logical_and::id, same_op<"And">},
    {ops::logical_or::id, same_op<"Or">},
    {ops::logical_xor::id, same_op<"Xor">},
    {ops::logical_not::id, same_op<"Not">},
    {ops::isnan::id, same_op<"IsNaN">},
    {ops::isfinite::id, export_isfinite},
    {ops::select::id, same_op<"Where">},
    {ops::cast::id, export_cast},
};

}  // namespace flowgraph::onnx
