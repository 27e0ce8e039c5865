// Work that is done on a thread of its own, one task after another, in the order it was given.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace flowgraph::detail {

class background {
 public:
  // As many tasks wait at most; who brings another waits as well, so that memory has a bound.
  explicit background(std::size_t waiting_at_most) : most_(waiting_at_most) {}
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  // Ends when all tasks are done.
  ~background() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  // Throws what an earlier task has thrown; then this one is not taken.
  void post(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < most_; });
    rethrow();
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  // Until all tasks are done. Throws what one of them has thrown.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty() && !busy_; });
    rethrow();
  }

 private:
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
      lock.unlock();
      changed_.notify_all();
      std::exception_ptr failure;
      try {
        task();
      } catch (...) {
        failure = std::current_exception();
      }
      task = nullptr;  // what it holds is given back before anybody hears that it is done
      lock.lock();
      busy_ = false;
      if (!failure_) failure_ = std::move(failure);
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t most_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false, ending_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace flowgraph::detail
