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
    if (const problem why = reached(); why != problem::none) refuse(why);
  }
  problem reached() const noexcept {
    if (limits_.stop.stop_requested()) return problem::cancelled;
    return timed() && limits::clock::now() >= limits_.deadline ? problem::deadline_passed : problem::none;
  }
  // Of a step that ends before it is done.
  [[noreturn]] static void refuse(problem why) {
    if (why == problem::deadline_passed) throw deadline_error(why, sentence(why));
    throw cancelled_error(why, sentence(why));
  }
  const limits& all() const { return limits_; }

  // Waits until ready() or until a limit is reached.
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
