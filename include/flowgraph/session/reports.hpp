// Options that bring code with them: what looks for a NaN, and what keeps the times of steps. It is compiled with the
// file that sets the option, and a program that sets neither has none of it.
#pragma once
#include <concepts>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/plan/kernel_args.hpp>
#include <flowgraph/plan/plan.hpp>

namespace flowgraph {

namespace detail {

struct bound_call;     // engine/step/row_views.hpp: an instruction, ready to be called
class times_of_steps;  // engine/report/times_of_steps.hpp

inline namespace FLOWGRAPH_HALF {

// Runs an instruction and throws an execution_error where it gives a number that is not finite. views: of the plan's
// operands.
FLOWGRAPH_LAZY_HALF void run_checked(const plan_view& p, const instruction& x, const array_view* views,
                                     const bound_call& call);
// Of as many last steps.
FLOWGRAPH_LAZY_HALF times_of_steps* make_times_of_steps(int keep);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// true or false.
class check_option {
 public:
  using function = void (*)(const plan_view&, const instruction&, const array_view*, const detail::bound_call&);

  check_option() = default;
  template <std::same_as<bool> Bool>
  check_option(Bool on) : run_(on ? static_cast<function>(&detail::run_checked) : nullptr) {}
  operator bool() const { return run_ != nullptr; }
  function run() const { return run_; }

 private:
  function run_ = nullptr;
};

// How many.
class profile_option {
 public:
  profile_option() = default;
  template <std::integral Int>
  profile_option(Int steps) : steps_(static_cast<int>(steps)),
                              make_(&detail::make_times_of_steps) {}
  operator int() const { return steps_; }
  // Null: none are kept.
  detail::times_of_steps* make() const { return steps_ > 0 ? make_(steps_) : nullptr; }

 private:
  int steps_ = 0;
  detail::times_of_steps* (*make_)(int) = nullptr;
};

}  // namespace flowgraph
