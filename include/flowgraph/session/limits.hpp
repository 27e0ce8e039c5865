// When a step ends before it is done: at a deadline, or when somebody asks for it.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <version>

#include <flowgraph/core/error.hpp>
#include <flowgraph/plan/kernel_args.hpp>

#ifndef __cpp_lib_jthread
#error "flowgraph needs std::stop_token, which libc++ 19 has with -fexperimental-library"
#endif

namespace flowgraph {

// The first argument of a run: s.run<"loss">(fg::limits{.stop = token}, feeds...).
struct limits {
  using clock = std::chrono::steady_clock;

  std::stop_token stop = {};
  clock::time_point deadline = clock::time_point::max();
};

// s.run<"loss">(fg::within(50ms), feeds...)
inline limits within(limits::clock::duration time, std::stop_token stop = {}) {
  return {std::move(stop), limits::clock::now() + time};
}

namespace detail {

// The limits of a step that runs.
class step_limits final : public interruption {
 public:
  explicit step_limits(const limits& l) : limits_(l) {}

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

}  // namespace detail
}  // namespace flowgraph
