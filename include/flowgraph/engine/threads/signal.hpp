// What one thread sets, once, and others wait for.
#pragma once
#include <condition_variable>
#include <mutex>

#include <flowgraph/session/limits.hpp>

namespace flowgraph::detail {

template <class Tag>
class basic_signal {
 public:
  void set() noexcept {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  // True: it was set in time. A time that can't be reached is no time: waiting until then would overflow in some
  // clocks.
  bool wait(limits::clock::time_point until) {
    std::unique_lock lock(mutex_);
    const auto is_set = [this] { return set_; };
    if (until != limits::clock::time_point::max()) return changed_.wait_until(lock, until, is_set);
    changed_.wait(lock, is_set);
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

}  // namespace flowgraph::detail
