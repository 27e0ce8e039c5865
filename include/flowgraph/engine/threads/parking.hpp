// How a step waits for other steps: an instruction that can't be done yet becomes an attempt with somebody to wake, and
// its step needs no thread until then. A step of run() waits on its caller's own thread.
#pragma once
#include <condition_variable>
#include <mutex>

#include <flowgraph/engine/step/step_limits.hpp>

namespace flowgraph::detail {

class waiter {
 public:
  // Called once by whoever completes the attempt, on any thread; afterwards the attempt is its owner's again.
  virtual void wake() noexcept = 0;

 protected:
  ~waiter() = default;
};

// An instruction that asks a resource for something. It is begun, perhaps waited for, then finished; and begun again by
// the next step in the same workspace.
class attempt {
 public:
  attempt() = default;
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;
  virtual ~attempt() = default;

  // True: finish() may follow at once. False: after w.wake(), or after cancel() gave true never.
  virtual bool begin(const kernel_args& k, waiter& w) = 0;
  // True: what is not done is not going to be, and nobody will be woken. False: the wake-up is on its way.
  virtual bool cancel() noexcept = 0;
  // Writes what there is to write, or throws why there is nothing.
  virtual void finish(const kernel_args& k) = 0;
  // Is somebody else at its operands now? As long a step that waits keeps its variables.
  virtual bool busy() const noexcept { return false; }
  // The step is over: gives back what it holds.
  virtual void leave() noexcept {}
};

// A thread that has nothing else to do.
template <class Tag = void>
class basic_thread_waiter final : public waiter {
 public:
  // The calling thread's own, for what its step waits for.
  static basic_thread_waiter& mine() {
    static thread_local basic_thread_waiter w;
    return w;
  }
  // Another one, for variables: an instruction may want some while what it asked a resource for is on its way.
  static basic_thread_waiter& for_variables() {
    static thread_local basic_thread_waiter w;
    return w;
  }

  void wake() noexcept override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();  // while locked: afterwards the thread may have ended
  }
  // For something that this thread is woken for, or that can be cancelled. Which limit was reached; none: it was woken.
  template <class Awaited>
  problem wait_for(Awaited& a, const step_limits* within) {
    std::unique_lock lock(mutex_);
    const auto woken = [this] { return woken_; };
    while (within != nullptr && !woken_) {
      within->wait(changed_, lock, woken);
      const problem why = woken_ ? problem::none : within->reached();
      if (why == problem::none) continue;
      lock.unlock();
      if (a.cancel()) return why;
      lock.lock();
      break;
    }
    changed_.wait(lock, woken);
    woken_ = false;
    return problem::none;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool woken_ = false;
};
using thread_waiter = basic_thread_waiter<>;

// begin(waiter) on the calling thread, and until it may be finished.
template <class Begin>
void begin_and_wait(attempt& a, const limits* l, const Begin& begin) {
  thread_waiter& me = thread_waiter::mine();
  if (l == nullptr) {
    if (!begin(me)) me.wait_for(a, nullptr);
    return;
  }
  const step_limits within(*l);
  within.check();
  if (begin(me)) return;
  if (const problem why = me.wait_for(a, &within); why != problem::none) step_limits::refuse(why);
}

}  // namespace flowgraph::detail
