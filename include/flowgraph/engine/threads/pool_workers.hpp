// The threads of a session: the one that calls, and helpers on a pool. Work that several threads do together is a gang:
// helpers join where they are wanted. Whoever opened it works too and waits only for those inside, so that a busy pool,
// or a call from one of its own threads, delays nobody.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include <flowgraph/plan/kernel_args.hpp>
#include <flowgraph/session/lent_threads.hpp>

namespace flowgraph::detail {

template <class Tag = void>
class basic_pool_workers final : public workers {
 public:
  // pool: runs a task on another thread, at some time before this object ends. threads: of the pool and the caller, at
  // the same time.
  basic_pool_workers(lent_threads pool, int threads) : pool_(std::move(pool)), threads_(threads) {}
  // Helpers that the pool has not started yet must not find this gone.
  ~basic_pool_workers() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return helpers_ == 0; });
  }

  int threads() const override { return threads_; }

  void spread(std::int64_t n, std::int64_t grain, part_function part, const void* body) override {
    parts p{n, grain, (n + grain - 1) / grain, part, body};
    gang g([](void* all) { static_cast<parts*>(all)->work(true); }, &p, true);
    open(g, static_cast<int>(std::min<std::int64_t>(p.count, threads_)) - 1);
    p.work(false);
    close(g);
    if (p.failure) std::rethrow_exception(p.failure);
  }

  // work(object) is called by several threads at the same time, from open() to close().
  class gang {
   public:
    // brief: threads that wait for something else may work along.
    gang(void (*work)(void*), void* object, bool brief = false) : work_(work), object_(object), brief_(brief) {}

   private:
    friend class basic_pool_workers;
    void (*work_)(void*);
    void* object_;
    bool brief_;
    int wanted_ = 0;  // helpers that may still join
    std::atomic<int> inside_{0};
    gang* next_ = nullptr;
  };

  void open(gang& g, int helpers) {
    std::unique_lock lock = hold();
    g.next_ = open_;
    open_ = &g;
    admit(g, helpers, lock);
  }
  // Asks for more helpers, who come when they can.
  void invite(gang& g, int helpers) {
    std::unique_lock lock = hold();
    admit(g, helpers, lock);
  }
  // When there is nothing left to begin: waits for those inside.
  void close(gang& g) {
    {
      const std::unique_lock lock = hold();
      gang** at = &open_;
      while (*at != &g) at = &(*at)->next_;
      *at = g.next_;
    }
    const auto left = [&g] { return g.inside_.load(std::memory_order_acquire) == 0; };
    if (soon(left)) return;  // what is left is short; sleeping and waking would take longer
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    changed_.wait(lock, left);
    sleepers_.fetch_sub(1);
  }

  // Waits until done(), and works along where a kernel spreads its work.
  template <class Done>
  void idle(const Done& done) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    while (!done())
      if (!join(lock, true)) changed_.wait(lock);
    sleepers_.fetch_sub(1);
  }
  // Something changed that idle() may wait for.
  void news() {
    if (sleepers_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

 private:
  // One call of spread. The caller begins at the front, helpers begin at the back: where kernels follow each other that
  // are cut alike, a thread finds in its cache what it has written or read before.
  struct parts {
    std::int64_t n, grain, count;
    part_function part;
    const void* body;
    std::atomic<std::int64_t> begun{0}, front{0}, back{0};
    std::mutex mutex{};
    std::exception_ptr failure{};

    void work(bool helps) {
      while (begun.fetch_add(1, std::memory_order_relaxed) < count) {
        const std::int64_t i = helps ? count - 1 - back.fetch_add(1, std::memory_order_relaxed)
                                     : front.fetch_add(1, std::memory_order_relaxed);
        try {
          part(body, i * grain, std::min(n, (i + 1) * grain));
        } catch (...) {
          begun.store(count, std::memory_order_relaxed);  // the others need not begin
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
      }
    }
  };

  void admit(gang& g, int helpers, std::unique_lock<std::mutex>& lock) {
    g.wanted_ = std::min(g.wanted_ + helpers, threads_ - 1);
    int missing = std::min(g.wanted_, threads_ - 1 - helpers_);
    helpers_ += std::max(missing, 0);
    if (sleepers_.load() > 0) changed_.notify_all();
    lock.unlock();
    invitations_.fetch_add(1, std::memory_order_relaxed);  // whoever lingers finds the lock free
    for (; missing > 0; --missing) {
      try {
        pool_.schedule({[](void* all) { static_cast<basic_pool_workers*>(all)->help(); }, this});
      } catch (...) {  // an executor that takes no more tasks: others do the work
        lock.lock();
        helpers_ -= missing;
        return;
      }
    }
  }
  // What is done under the lock takes less time than falling asleep.
  std::unique_lock<std::mutex> hold() {
    for (int i = 0; i < 64; ++i, relax())
      if (mutex_.try_lock()) return {mutex_, std::adopt_lock};
    return std::unique_lock(mutex_);
  }

  void help() {
    std::unique_lock lock(mutex_);
    for (bool worked = true; worked;) {
      worked = false;
      while (join(lock, false)) worked = true;
      if (worked) linger(lock);
    }
    --helpers_;
    changed_.notify_all();
  }
  // The kernels of a loop spread their work one after the other, some tens of microseconds apart: a helper that is
  // still awake is there at once, one that the pool has to wake is late.
  void linger(std::unique_lock<std::mutex>& lock) {
    const unsigned before = invitations_.load(std::memory_order_relaxed);
    lock.unlock();
    soon([&] { return invitations_.load(std::memory_order_relaxed) != before; });
    lock = hold();
  }
  // Whether done() becomes true while nobody sleeps.
  template <class Done>
  static bool soon(const Done& done) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now() + std::chrono::microseconds(50);
    do {
      for (int i = 0; i < 16; ++i, relax())
        if (done()) return true;
    } while (clock::now() < end);
    return false;
  }
  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  // Works for a gang that wants somebody; false: none does.
  bool join(std::unique_lock<std::mutex>& lock, bool only_brief) {
    gang* g = open_;
    while (g != nullptr && (g->wanted_ == 0 || (only_brief && !g->brief_))) g = g->next_;
    if (g == nullptr) return false;
    --g->wanted_;
    g->inside_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    g->work_(g->object_);
    lock = hold();
    g->inside_.fetch_sub(1, std::memory_order_release);  // from here on the gang may be gone
    if (sleepers_.load() > 0) changed_.notify_all();
    return true;
  }

  lent_threads pool_;
  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  gang* open_ = nullptr;  // the latest first
  int helpers_ = 0;       // tasks that the pool has, waiting or running
  std::atomic<int> sleepers_{0};
  std::atomic<unsigned> invitations_{0};
};
using pool_workers = basic_pool_workers<>;

}  // namespace flowgraph::detail
