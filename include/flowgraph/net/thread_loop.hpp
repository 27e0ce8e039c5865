// An event loop on a thread of its own, without any network: of tasks that live in one process.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "event_loop.hpp"

namespace flowgraph::detail {

class thread_loop final : public event_loop {
 public:
  thread_loop() : thread_([this] { run(); }) {}
  // What is posted still is done; timers are not.
  ~thread_loop() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  thread_loop(const thread_loop&) = delete;
  thread_loop& operator=(const thread_loop&) = delete;

  net_time now() const override { return net_clock::now(); }
  void post(work w) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(w));
    }
    changed_.notify_one();
  }
  timer_id at(net_time when, work w) override {
    timer_id id;
    {
      const std::lock_guard lock(mutex_);
      id = timers_.add(when, std::move(w));
    }
    changed_.notify_one();
    return id;
  }
  void cancel(timer_id id) override {
    const std::lock_guard lock(mutex_);
    timers_.remove(id);
  }
  bool here() const override { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work next;
      if (!posted_.empty()) {
        next = std::move(posted_.front());
        posted_.pop_front();
      } else if (ending_) {
        return;
      } else {
        next = timers_.take_due(now());
      }
      if (next) {
        lock.unlock();
        next();
        next = nullptr;  // what it held ends outside the lock
        lock.lock();
      } else if (timers_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, timers_.first());
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<work> posted_;
  timer_list timers_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace flowgraph::detail
