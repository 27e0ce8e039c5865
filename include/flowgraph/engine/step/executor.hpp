// One step on its way through its plan: straight on where one thread is fastest and nothing waits, else by readiness.
// Both run the same kernels on the same values, so both give the same numbers, bit for bit.
#pragma once
#include <exception>
#include <utility>

#include <flowgraph/engine/step/ready_walk.hpp>
#include <flowgraph/engine/step/straight_walk.hpp>

namespace flowgraph::detail {

template <class Tag = void>
class basic_executor {
 public:
  basic_executor(const executable& e, const graph_view& g, workspace& w, const step_company& c)
      : runner_(e.plan(), g, w, c),
        straight_(runner_, e.flows()),
        ready_(runner_, e.flows()),
        may_wait_(e.flows().waits()) {}

  // Before the first instruction, and where the step goes on: its variables. False: as of go_on.
  bool take_variables(waiter& w) {
    if (interrupted_ != problem::none) step_limits::refuse(interrupted_);
    taking_ = !runner_.company.held->begin(w);
    return !taking_;
  }
  // Runs the step. helpers: for one that runs by readiness, else null. False: all that is left waits for other steps, w
  // is woken once when that has changed, and then it goes on here.
  bool go_on(crew* helpers, waiter* w) {
    if (helpers == nullptr && !may_wait_) {
      straight_.run_all();
      return true;
    }
    if (parked_ && runner_.company.held != nullptr && !ready_.failed()) {
      try {
        if (!take_variables(*w)) return false;
      } catch (...) {
        ready_.fail_resumed();
      }
    }
    parked_ = !ready_.go_on(helpers, w);
    return !parked_;
  }
  // While it waits, from any thread: it ends with this, unless what it waits for is on its way. True: by who calls
  // this, now. False: it is woken.
  bool interrupt(problem why) noexcept {
    if (!taking_) return ready_.interrupt(why), false;
    if (!runner_.company.held->cancel()) return false;
    interrupted_ = why;
    return true;
  }

 private:
  const instruction_runner runner_;
  const straight_walk straight_;
  ready_walk ready_;
  bool may_wait_;
  bool parked_ = false;
  bool taking_ = false;  // it waits for variables
  problem interrupted_ = problem::none;
};
using executor = basic_executor<>;

}  // namespace flowgraph::detail
