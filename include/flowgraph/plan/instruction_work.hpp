// What an instruction costs: elementary operations, roughly. Apart, because passes ask before names are bound to
// numbers, and sessions after.
#pragma once
#include <cstdint>

#include <flowgraph/graph/builder.hpp>
#include "plan.hpp"

namespace flowgraph {

// elements(k): how many the k-th operand has, results counted after operands.
// flops(): what the op says, where it says it.
template <class Elements, class Flops>
constexpr std::int64_t instruction_work(const program* programs, const instruction& x, const Elements& elements,
                                        const Flops& flops) {
  std::int64_t steps = 0;
  if (x.program != 0) {
    const program& region = programs[x.program];
    steps = elements(region.value) * region.n_steps;
    if (region.role == program_role::all) return steps;
  }
  if (x.n_outputs == 0) return steps + (x.n_operands > 0 ? elements(0) : 0);
  return steps + (x.op->is(trait::has_flops) ? flops() : elements(x.n_operands));
}

// flops() of above, if extents_of(k) are the extents of the k-th operand or result.
template <class ExtentsOf>
constexpr std::int64_t flops_of(const plan_view& p, const instruction& x, const ExtentsOf& extents_of) {
  detail::vec<extents> in(x.n_operands);
  for (int i = 0; i < x.n_operands; ++i) in[i] = extents_of(i);
  return x.op->flops(cost_query(in.data, extents_of(x.n_operands), p.words.data + x.attrs));
}

}  // namespace flowgraph
