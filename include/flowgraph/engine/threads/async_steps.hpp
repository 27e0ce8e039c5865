// What the steps of a session share that run without their callers: the time, and the end of the session.
#pragma once
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "timer.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_async_steps {
 public:
  // timed: it has a deadline.
  void enter(bool timed) {
    if (timed) time.reserve();
    const std::lock_guard lock(mutex_);
    ++steps_;
  }
  void leave(bool timed) noexcept {
    if (timed) time.give_back();
    const std::lock_guard lock(mutex_);
    if (--steps_ == 0) changed_.notify_all();
  }
  // Steps that wait end with a cancelled_error, others when they would wait; work_along() runs what is ready.
  template <class Work>
  void end(const Work& work_along) {
    ending_.request_stop();
    work_along();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return steps_ == 0; });
  }
  std::stop_token ending() const { return ending_.get_token(); }

  timer time;

 private:
  std::stop_source ending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int steps_ = 0;
};
using async_steps = basic_async_steps<>;

}  // namespace flowgraph::detail
