// The threads of steps that run without their callers: they run on a pool, and have no thread while they wait for each
// other.
#pragma once
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "alarm_clock.hpp"
#include "task_line.hpp"

namespace flowgraph::detail {

// What the asynchronous steps of a session share.
template <class Tag = void>
class basic_async_crew {
 public:
  basic_async_crew(lent_threads pool, int threads) : line(std::move(pool), threads) {}
  // Steps that wait end with a cancelled_error, others go on until they would wait.
  ~basic_async_crew() {
    ending_.request_stop();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return steps_ == 0; });
  }

  void enter() {
    const std::lock_guard lock(mutex_);
    ++steps_;
  }
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    if (--steps_ == 0) changed_.notify_all();
  }
  std::stop_token ending() const { return ending_.get_token(); }

 private:
  std::stop_source ending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int steps_ = 0;

 public:
  alarm_clock clock;
  task_line line;  // last: its runners use the others
};
using async_crew = basic_async_crew<>;

}  // namespace flowgraph::detail
