// Tasks that stand in line for a few threads of a pool. However many there are, at most `threads` of them are with the
// pool at any time: one that is full would run the next in the call itself, in the middle of another step.
#pragma once
#include <condition_variable>
#include <mutex>
#include <utility>

#include <flowgraph/session/lent_threads.hpp>
#include "linked_list.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_task_line {
 public:
  class task {
   public:
    virtual void run() noexcept = 0;  // which may end the task

    task* next = nullptr;

   protected:
    ~task() = default;
  };

  basic_task_line(lent_threads pool, int threads) : pool_(std::move(pool)), threads_(threads) {}
  // Runners that the pool has not started yet must not find this gone.
  ~basic_task_line() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return runners_ == 0; });
  }

  void add(task& t) noexcept {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(&t);
      if (runners_ == threads_) return;
      ++runners_;
    }
    try {
      pool_.schedule({[](void* line) { static_cast<basic_task_line*>(line)->work(); }, this});
    } catch (...) {  // an executor that takes no more tasks
      work();
    }
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!tasks_.empty()) {
      task* t = tasks_.pop_front();
      lock.unlock();
      t->run();
      lock.lock();
    }
    --runners_;
    changed_.notify_all();  // while locked: afterwards this may be gone
  }

  lent_threads pool_;
  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  linked_list<task> tasks_;
  int runners_ = 0;  // with the pool, waiting or running
};
using task_line = basic_task_line<>;

}  // namespace flowgraph::detail
