// Calls back at a time. Its thread starts with the first alarm.
#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace flowgraph::detail {

template <class Tag = void>
class basic_alarm_clock {
 public:
  using clock = std::chrono::steady_clock;

  class alarm {
   public:
    virtual void ring() noexcept = 0;

   protected:
    ~alarm() = default;
  };

  basic_alarm_clock() = default;
  basic_alarm_clock(const basic_alarm_clock&) = delete;
  basic_alarm_clock& operator=(const basic_alarm_clock&) = delete;
  ~basic_alarm_clock() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  void set(clock::time_point at, alarm& a) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
    alarms_.emplace(at, &a);
    changed_.notify_all();
  }
  // It does not ring any more when this returns; unless it is called by the ringing itself.
  void forget(alarm& a) {
    std::unique_lock lock(mutex_);
    for (auto i = alarms_.begin(); i != alarms_.end(); ++i)
      if (i->second == &a) return void(alarms_.erase(i));
    if (std::this_thread::get_id() != thread_.get_id()) changed_.wait(lock, [&] { return ringing_ != &a; });
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      // A copy: the first one may be forgotten while this waits for it.
      const clock::time_point next = alarms_.empty() ? clock::time_point::max() : alarms_.begin()->first;
      if (alarms_.empty()) {
        changed_.wait(lock);
      } else if (next > clock::now()) {
        changed_.wait_until(lock, next);
      } else {
        ringing_ = alarms_.begin()->second;
        alarms_.erase(alarms_.begin());
        lock.unlock();
        ringing_->ring();
        lock.lock();
        ringing_ = nullptr;
        changed_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<clock::time_point, alarm*> alarms_;
  alarm* ringing_ = nullptr;
  bool ended_ = false;
  std::thread thread_;
};
using alarm_clock = basic_alarm_clock<>;

}  // namespace flowgraph::detail
