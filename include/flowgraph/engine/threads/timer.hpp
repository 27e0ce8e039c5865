// Calls back at a time. Its thread starts with the first room that is asked for; a heap, whose alarms know their
// places, so that thousands may be set and forgotten.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>

#include <flowgraph/core/list.hpp>
#include "at_work.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_timer {
 public:
  using clock = std::chrono::steady_clock;

  class alarm {
   public:
    virtual void ring() noexcept = 0;

   protected:
    ~alarm() = default;

   private:
    friend class basic_timer;
    std::size_t place_ = none;
  };

  basic_timer() = default;
  basic_timer(const basic_timer&) = delete;
  basic_timer& operator=(const basic_timer&) = delete;
  ~basic_timer() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  // Room for one more alarm, so that setting it takes nothing that may be missing.
  void reserve() {
    const std::lock_guard lock(mutex_);
    if (heap_.capacity() <= room_) heap_.reserve(2 * room_ + 8);
    if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
    ++room_;
  }
  void give_back() noexcept {
    const std::lock_guard lock(mutex_);
    --room_;
  }

  // There is room for it.
  void set(clock::time_point at, alarm& a) noexcept {
    const std::lock_guard lock(mutex_);
    heap_.push_back({at, &a});
    rise(heap_.size() - 1, heap_.back());
    if (a.place_ == 0) changed_.notify_all();
  }
  // It does not ring any more when this returns; unless it is called by the ringing itself.
  void forget(alarm& a) noexcept {
    std::unique_lock lock(mutex_);
    if (a.place_ != none) return remove(a.place_);
    if (std::this_thread::get_id() != thread_.get_id()) changed_.wait(lock, [&] { return ringing_ != &a; });
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct entry {
    clock::time_point at;
    alarm* what;
  };

  void put(std::size_t i, const entry& e) {
    heap_[i] = e;
    e.what->place_ = i;
  }
  // From place i, which is free, to where it belongs.
  void rise(std::size_t i, const entry e) {
    for (; i > 0 && e.at < heap_[(i - 1) / 2].at; i = (i - 1) / 2) put(i, heap_[(i - 1) / 2]);
    put(i, e);
  }
  void sink(std::size_t i, const entry e) {
    for (std::size_t child = 2 * i + 1; child < heap_.size(); i = child, child = 2 * i + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].at < heap_[child].at) ++child;
      if (!(heap_[child].at < e.at)) break;
      put(i, heap_[child]);
    }
    put(i, e);
  }
  void remove(std::size_t i) {
    heap_[i].what->place_ = none;
    const entry last = heap_.back();
    heap_.pop_back();
    if (i == heap_.size()) return;
    if (i > 0 && last.at < heap_[(i - 1) / 2].at)
      rise(i, last);
    else
      sink(i, last);
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      // A copy: the first one may be forgotten while this waits for it.
      const clock::time_point next = heap_.empty() ? clock::time_point::max() : heap_.front().at;
      if (heap_.empty()) {
        changed_.wait(lock);
      } else if (next > clock::now()) {
        changed_.wait_until(lock, next);
      } else {
        const at_work here;  // what an executor runs in the call comes when the ringing is over
        ringing_ = heap_.front().what;
        remove(0);
        lock.unlock();
        ringing_->ring();
        lock.lock();
        ringing_ = nullptr;
        changed_.notify_all();
        lock.unlock();
        at_work::pause();
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  list<entry> heap_;
  std::size_t room_ = 0;
  alarm* ringing_ = nullptr;
  bool ended_ = false;
  std::thread thread_;
};
using timer = basic_timer<>;

}  // namespace flowgraph::detail
