// Element-wise steps once more, number by number: finds the one among several that made a NaN or an infinity.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/core/text_from.hpp>
#include <flowgraph/kernels/cpu/elementwise.hpp>
#include <flowgraph/plan/plan.hpp>
#include "value_range.hpp"

namespace flowgraph::detail {

// The op's scalar function on doubles; false: it has none.
template <class Op>
bool evaluate_as(const double* x, double& y) {
  if constexpr (requires { typename Op::function; }) {
    using function = typename Op::function;
    constexpr int n = count_operands<function>();
    if constexpr (n == 1)
      y = static_cast<double>(function::apply(scalar_math{}, x[0]));
    else if constexpr (n == 2)
      y = static_cast<double>(function::apply(scalar_math{}, x[0], x[1]));
    else
      y = static_cast<double>(function::apply(scalar_math{}, x[0] != 0, x[1], x[2]));
    return true;
  } else {
    y = x[0];  // broadcast_to, cast
    return true;
  }
}
// Of the library's own ops; false: it is none of them.
template <class... Op>
bool evaluate(type_list<Op...>, std::uint64_t id, const double* x, double& y) {
  return ((Op::id == id && evaluate_as<Op>(x, y)) || ...);
}

// Element i of a value of another shape, as an operand that is broadcast to it has it.
template <class Tag = void>
double broadcast_element(const array_view& v, const array_view& shape, std::int64_t i) {
  std::int64_t at = 0, stride = 1;
  for (int k = 0; k < v.rank; ++k, i /= shape.last(k - 1)) {
    if (v.last(k) != 1) at += i % shape.last(k) * stride;
    stride *= v.last(k);
  }
  double number = 0;
  with_type(v.type, [&]<class T>(T) { number = static_cast<double>(v.as<const T>()[at]); });
  return number;
}

// "log of -0.5 gave NaN at [1, 0]": the first step of an instruction's program whose number is not finite, for the
// first element where there is one. Empty: there is none, or what the steps read is no longer there. in: what the
// instruction read; views: of its operands and results, for their shapes.
template <class Tag = void>
std::string first_bad_step(const plan_view& p, const instruction& x, const array_view* in, const array_view* views) {
  const program& region = p.programs[x.program];
  if (x.program == 0 || region.role == program_role::after) return "";
  const slice<program_step> steps = p.steps_of(region);
  const array_view& value = views[region.value];
  double results[max_program_steps];
  const std::int64_t n = value.size();
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < steps.count; ++k) {
      const program_step& s = steps[k];
      double read[4]{};
      std::string operands;
      for (int j = 0; j < s.n_inputs && j < 4; ++j) {
        const int r = p.registers[s.inputs + j];
        read[j] = r >= 0 ? results[r] : broadcast_element(in[-1 - r], value, i);
      }
      if (!evaluate(elementwise_kernels{}, s.op->id, read, results[k])) return "";
      with_type(s.type, [&]<class T>(T) { results[k] = static_cast<double>(convert<T>(results[k])); });
      if (std::isfinite(results[k])) continue;
      for (int j = 0; j < s.n_inputs && j < 4; ++j) operands += text_from({j == 0 ? "" : ", ", six_digits(read[j])});
      return text_from(
          {s.op->name, " of ", operands, " gave ", odd_number_text(results[k]), " at ", index_text(value, i)});
    }
  return "";
}

}  // namespace flowgraph::detail
