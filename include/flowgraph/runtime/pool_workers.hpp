// The threads of a session: the one that calls, and helpers on a pool. Work that several threads do together is a gang:
// whoever comes while it is open works along. A gang's owner works too and waits only for those inside, so that a busy
// pool, or a call from one of its own threads, delays nobody.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#define EIGEN_USE_THREADS
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

class pool_workers final : public workers {
 public:
  // Runs a task on another thread, at some time before this object ends.
  using scheduler = std::function<void(std::function<void()>)>;

  // threads: of the pool and the caller, at the same time.
  pool_workers(scheduler schedule, int threads) : schedule_(std::move(schedule)), threads_(threads) {}
  pool_workers(Eigen::ThreadPoolInterface& pool, int threads)
      : pool_workers([&pool](std::function<void()> task) { pool.Schedule(std::move(task)); }, threads) {}
  // Helpers that the pool has not started yet must not find this gone.
  ~pool_workers() override {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return free_.size() == all_.size(); });
  }

  int threads() const override { return threads_; }

  void spread(std::int64_t n, std::int64_t grain, part_function part, const void* body) override {
    parts p{n, grain, (n + grain - 1) / grain, part, body};
    gang& g = open([](void* all) { static_cast<parts*>(all)->work(); }, &p, true);
    invite(g, static_cast<int>(std::min<std::int64_t>(p.count, threads_)) - 1);
    p.work();
    close(g);
    if (p.failure) std::rethrow_exception(p.failure);
  }

  class gang;
  // work(object) may be called by several threads, until close().
  gang& open(void (*work)(void*), void* object, bool for_idle = false) {
    gang* g;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) {
        all_.push_back(std::make_unique<gang>());
        free_.reserve(all_.size());
        idle_work_.reserve(all_.size());
        g = all_.back().get();
      } else {
        g = free_.back();
        free_.pop_back();
      }
      g->work = work;
      g->object = object;
      g->inside.store(0);
      g->holders.store(1);
      if (for_idle) idle_work_.push_back(g);
    }
    if (for_idle) news();
    return *g;
  }
  // Asks for helpers. They may come late, or find the gang closed.
  void invite(gang& g, int helpers) {
    for (int i = 0; i < helpers; ++i) {
      g.holders.fetch_add(1);
      try {
        schedule_([this, &g] {
          g.join();
          release(g);
        });
      } catch (...) {  // an executor that takes no more tasks: the owner works alone
        release(g);
        return;
      }
    }
  }
  // When there is nothing left to begin; those inside finish.
  void close(gang& g) {
    {
      const std::lock_guard lock(mutex_);
      const auto at = std::find(idle_work_.begin(), idle_work_.end(), &g);
      if (at != idle_work_.end()) idle_work_.erase(at);
    }
    g.close();
    release(g);
  }

  // Until done(): works along where a kernel spreads its work, otherwise sleeps until news().
  template <class Done>
  void idle(const Done& done) {
    sleepers_.fetch_add(1);
    while (true) {
      const std::uint32_t seen = news_.load();
      if (done()) break;
      if (!work_along()) news_.wait(seen);
    }
    sleepers_.fetch_sub(1);
  }
  // Something changed that an idle thread waits for.
  void news() {
    if (sleepers_.load() == 0) return;
    news_.fetch_add(1);
    news_.notify_all();
  }

  // Outlives the work: a helper that the pool starts late finds it closed, but it does look.
  class gang {
   public:
    // Works, unless it is closed.
    void join() {
      if ((inside.fetch_add(1) & closed) == 0) work(object);
      leave();
    }
    void leave() {
      if (inside.fetch_sub(1) == (closed | 1)) inside.notify_all();
    }
    void close() {
      for (std::uint32_t n = inside.fetch_or(closed) | closed; n != closed; n = inside.load()) inside.wait(n);
    }

    static constexpr std::uint32_t closed = 1u << 31;
    void (*work)(void*) = nullptr;
    void* object = nullptr;
    std::atomic<std::uint32_t> inside{0};
    std::atomic<int> holders{0};  // the owner, and tasks that the pool has
  };

 private:
  // One call of spread.
  struct parts {
    std::int64_t n, grain, count;
    part_function part;
    const void* body;
    std::atomic<std::int64_t> next{0};
    std::mutex mutex{};
    std::exception_ptr failure{};

    void work() {
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        try {
          part(body, i * grain, std::min(n, (i + 1) * grain));
        } catch (...) {
          next.store(count, std::memory_order_relaxed);  // the others need not begin
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
      }
    }
  };

  bool work_along() {
    gang* g = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (idle_work_.empty()) return false;
      g = idle_work_.back();
      idle_work_.pop_back();  // a thread that comes back for more would find it without work
      g->inside.fetch_add(1);
    }
    g->work(g->object);
    g->leave();
    return true;
  }
  void release(gang& g) {
    if (g.holders.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(&g);
    returned_.notify_one();
  }

  scheduler schedule_;
  int threads_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<gang>> all_;
  std::vector<gang*> free_;
  std::vector<gang*> idle_work_;  // open, for threads that have nothing else to do
  std::atomic<int> sleepers_{0};
  std::atomic<std::uint32_t> news_{0};
};

}  // namespace flowgraph::detail
