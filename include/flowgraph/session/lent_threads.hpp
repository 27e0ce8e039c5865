// Threads that an application has already, as a pool or as a function that runs a task on another thread. What calls
// them is compiled where somebody lends some, and needs neither Eigen nor std::function anywhere else.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace flowgraph {

// What runs on another thread. Becomes a std::function<void()> where one is asked for.
struct thread_task {
  void (*run)(void* object) = nullptr;
  void* object = nullptr;

  void operator()() const { run(object); }
};

class lent_threads {
 public:
  lent_threads() = default;
  lent_threads(std::nullptr_t) {}
  // An Eigen::ThreadPoolInterface, or whatever has the same two functions. It outlives this.
  template <class Pool>
    requires requires(Pool& pool, thread_task t) {
      pool.Schedule(t);
      pool.NumThreads();
    }
  lent_threads(Pool* pool) {
    if (pool == nullptr) return;
    owner_ = std::shared_ptr<void>(std::shared_ptr<void>(), pool);
    schedule_ = [](void* p, thread_task t) { static_cast<Pool*>(p)->Schedule(t); };
    threads_ = pool->NumThreads();
  }
  // schedule(task), where task may be a std::function<void()>.
  template <class F>
    requires(!std::is_pointer_v<F> && std::is_invocable_v<F&, thread_task>)
  lent_threads(F schedule) {
    if constexpr (requires { schedule == nullptr; })
      if (schedule == nullptr) return;
    owner_ = std::make_shared<F>(std::move(schedule));
    schedule_ = [](void* f, thread_task t) { (*static_cast<F*>(f))(t); };
  }

  explicit operator bool() const { return schedule_ != nullptr; }
  // How many there are; 0: nobody says.
  int threads() const { return threads_; }
  void schedule(thread_task t) const { schedule_(owner_.get(), t); }

 private:
  std::shared_ptr<void> owner_;  // the function, or a pool that is not owned
  void (*schedule_)(void*, thread_task) = nullptr;
  int threads_ = 0;
};

}  // namespace flowgraph
