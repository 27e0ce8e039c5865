// A task's part of a plan, ready for an engine that has been given a rendezvous_source: where the other parts are.
#pragma once
#include <memory>

#include <flowgraph/passes/task.hpp>
#include <flowgraph/session/engine_api.hpp>
#include "prepared_step.hpp"

namespace flowgraph::detail {

// Of a plan whose graph outlives it. It ends when none of its steps runs, and before the engine that runs them.
template <class Tag = void>
struct basic_task_step {
  // task: of passes::tasks_of(whole.plan). Throws plan_error.
  basic_task_step(const planned_step& whole, int task, device_source* devices = nullptr)
      : part(passes::task_part(whole.plan, task)) {
    if (part.plan.fault.why != problem::none) throw plan_error(part.plan.fault.why, sentence(part.plan.fault.why));
    // Regions that were compiled with the model are numbered by its whole plan.
    step = std::make_unique<prepared_step>(part.plan.view(), whole.graph,
                                           kernel_source{whole.kernels.own, whole.kernels.library}, devices);
  }

  passes::task_plan part;  // which feeds and fetches of the whole are its own
  std::unique_ptr<prepared_step> step;
};
using task_step = basic_task_step<>;

}  // namespace flowgraph::detail
