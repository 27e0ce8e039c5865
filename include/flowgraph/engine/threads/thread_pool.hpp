// The threads that a session makes where it was lent none. Tasks wait in one line: there are never more of them than a
// few for each thread, and each is long.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include <flowgraph/core/vec.hpp>
#include <flowgraph/session/lent_threads.hpp>
#include "linked_list.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_thread_pool {
 public:
  explicit basic_thread_pool(int threads) {
    try {
      for (int i = 0; i < threads; ++i) all_.push_back(new worker(*this));
    } catch (...) {
      end();
      throw;
    }
  }
  basic_thread_pool(const basic_thread_pool&) = delete;
  basic_thread_pool& operator=(const basic_thread_pool&) = delete;
  // When every task has run.
  ~basic_thread_pool() { end(); }

  // As Eigen::ThreadPoolInterface has them.
  int NumThreads() const { return static_cast<int>(all_.size()); }
  void Schedule(thread_task t) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push(t);
    }
    changed_.notify_one();
  }

 private:
  struct worker {
    explicit worker(basic_thread_pool& pool) : thread(&basic_thread_pool::work, &pool) {}
    std::thread thread;
    worker* next = nullptr;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (first_ == tasks_.count && !ended_) changed_.wait(lock);
      if (first_ == tasks_.count) return;
      const thread_task t = tasks_[first_++];
      if (first_ == tasks_.count) tasks_.count = first_ = 0;
      lock.unlock();
      t();
      lock.lock();
    }
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    while (!all_.empty()) {
      worker* const w = all_.pop_front();
      w->thread.join();
      delete w;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  vec<thread_task> tasks_;
  int first_ = 0;  // of those that wait
  bool ended_ = false;
  linked_list<worker> all_;
};
using thread_pool = basic_thread_pool<>;

}  // namespace flowgraph::detail
