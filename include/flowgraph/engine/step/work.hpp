// What a step costs with the extents it is bound to, and from that how its instructions run.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/core/list.hpp>
#include <flowgraph/plan/instruction_work.hpp>
#include <flowgraph/plan/kernel_args.hpp>
#include <flowgraph/plan/plan.hpp>
#include <flowgraph/session/options.hpp>

namespace flowgraph::detail {

enum class walk {
  alone,   // in order, on the calling thread
  spread,  // in order; kernels spread their work
  ready    // by readiness, on all threads; kernels spread their work
};

// operands: the views of the plan's operands.
template <class Tag = void>
std::int64_t work_of(const plan_view& p, const instruction& x, const array_view* operands) {
  const array_view* views = operands + x.operands;
  const auto extents_of = [&](int k) {
    extents e;
    for (int i = 0; i < views[k].rank; ++i) e.push(views[k].dim(i));
    return e;
  };
  return instruction_work(
      p.programs.data, x, [&](int k) { return views[k].size(); }, [&] { return flops_of(p, x, extents_of); });
}

struct step_work {
  std::int64_t total = 0;
  std::int64_t longest = 0;  // of all chains of instructions that wait for each other

  step_work() = default;
  step_work(const plan_view& p, const array_view* operands) {
    list<std::int64_t> before(static_cast<std::size_t>(p.instructions.size()));
    for (int i = 0; i < p.instructions.size(); ++i) {
      const instruction& x = p.instructions[i];
      const std::int64_t own = work_of(p, x, operands), end = before[static_cast<std::size_t>(i)] + own;
      total += own;
      longest = std::max(longest, end);
      for (const int s : p.next(x)) {
        std::int64_t& other = before[static_cast<std::size_t>(s)];
        other = std::max(other, end);
      }
    }
  }
};

// By readiness where at least half as much again as one chain can be done at the same time, and where an instruction
// is worth handing to another thread on the average.
template <class Tag = void>
walk choose_walk(const step_work& w, int instructions, const session_options& o) {
  constexpr std::int64_t worth_handing_over = 20'000;
  if (o.threads == 1) return walk::alone;
  if (o.inter_op == inter_op_policy::parallel) return walk::ready;
  if (w.total < o.serial_below) return walk::alone;
  if (o.inter_op == inter_op_policy::serial) return walk::spread;
  const bool wide = 2 * w.total >= 3 * w.longest, heavy = w.total >= worth_handing_over * instructions;
  return wide && heavy ? walk::ready : walk::spread;
}

}  // namespace flowgraph::detail
