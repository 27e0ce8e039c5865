// What session/limits.hpp says, while a step runs.
#pragma once
#include <condition_variable>
#include <mutex>

#include <flowgraph/core/error.hpp>
#include <flowgraph/plan/kernel_args.hpp>
#include <flowgraph/session/limits.hpp>

namespace flowgraph::detail {

// The limits of a step that runs.
template <class Tag = void>
class basic_step_limits final : public interruption {
 public:
  explicit basic_step_limits(const limits& l) : limits_(l) {}

  void check() const override {
    if (limits_.stop.stop_requested()) throw cancelled_error(problem::cancelled, sentence(problem::cancelled));
    if (timed() && limits::clock::now() >= limits_.deadline)
      throw deadline_error(problem::deadline_passed, sentence(problem::deadline_passed));
  }

  // For who has waited until check() would throw.
  [[noreturn]] void give_up() const {
    check();
    throw cancelled_error(problem::cancelled, sentence(problem::cancelled));
  }
  const limits& all() const { return limits_; }

  // Waits until ready() or until check() would throw.
  template <class Ready>
  void wait(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock, const Ready& ready) const {
    if (timed())
      changed.wait_until(lock, limits_.stop, limits_.deadline, ready);
    else
      changed.wait(lock, limits_.stop, ready);
  }

 private:
  bool timed() const { return limits_.deadline != limits::clock::time_point::max(); }

  const limits& limits_;
};
using step_limits = basic_step_limits<>;

}  // namespace flowgraph::detail
