// What an instruction comes after in any case of all that waits for other steps or devices. Memory that goes from one
// to another would make it wait for more: passes/memory.hpp asks here.
#pragma once
#include <cstdint>

#include <flowgraph/ops/send_recv.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

// Of each instruction, a bit for each wait; more than 64 share them. Empty: nothing waits. values: how many ids the
// slot operands of the plan use.
constexpr detail::vec<std::uint64_t> find_waits(const plan_data& p, int values) {
  const auto waits = [](const instruction& x) { return x.op->is(trait::waits) || x.op->id == ops::recv::id; };
  bool any = false;
  for (const instruction& x : p.instructions) any = any || waits(x);
  if (!any) return {};
  detail::vec<std::uint64_t> after(p.instructions.count), made_after(values), within(p.regions.count);
  int seen = 0;
  for (int i = 0; i < p.instructions.count; ++i) {
    const instruction& x = p.instructions[i];
    const operand *in = p.operands.data + x.operands, *out = in + x.n_operands, *end = out + x.n_outputs;
    std::uint64_t all = waits(x) ? std::uint64_t{1} << (seen++ % 64) : 0;
    if (x.region != 0) all |= after[p.regions[x.region].entry];
    for (const operand* o = in; o != out; ++o)
      if (o->where == storage::slot) all |= made_after[o->index];
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) all |= within[r];
    if (x.n_regions != 0)  // its first operands are its results
      for (int k = 0; k < p.instructions[p.regions[x.first_region].entry].n_outputs; ++k)
        if (in[k].where == storage::slot) made_after[in[k].index] |= all;
    for (const operand* o = out; o != end; ++o) made_after[o->index] |= all;
    within[x.region] |= all;
    after[i] = all;
  }
  return after;
}

}  // namespace flowgraph::passes
