// Kernels' helpers on a thread pool. The thread that asks works along and waits only for parts that somebody has begun,
// so that a busy pool, or a call from one of its own threads, delays nobody.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#define EIGEN_USE_THREADS
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

class pool_workers final : public workers {
 public:
  // threads: of the pool and the caller, at the same time.
  pool_workers(Eigen::ThreadPoolInterface& pool, int threads) : pool_(pool), threads_(threads) {}
  // Helpers that the pool has not started yet must not find this gone.
  ~pool_workers() override {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return free_.size() == all_.size(); });
  }

  int threads() const override { return threads_; }

  void spread(std::int64_t n, std::int64_t grain, part_function part, const void* body) override {
    const std::int64_t parts = (n + grain - 1) / grain;
    const int helpers = static_cast<int>(std::min<std::int64_t>(parts, threads_)) - 1;
    job& j = take();
    j.n = n;
    j.grain = grain;
    j.parts = parts;
    j.part = part;
    j.body = body;
    j.next.store(0, std::memory_order_relaxed);
    j.done.store(0, std::memory_order_relaxed);
    j.holders.store(helpers + 1, std::memory_order_relaxed);
    for (int i = 0; i < helpers; ++i)
      pool_.Schedule([this, &j] {
        work(j);
        release(j);
      });
    work(j);
    for (std::int64_t seen = j.done.load(std::memory_order_acquire); seen < parts;
         seen = j.done.load(std::memory_order_acquire))
      j.done.wait(seen, std::memory_order_acquire);
    const std::exception_ptr failure = std::exchange(j.failure, nullptr);
    release(j);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  // Outlives the call: a helper that the pool starts late finds nothing left to do, but it does look.
  struct job {
    std::int64_t n, grain, parts;
    part_function part;
    const void* body;
    std::atomic<std::int64_t> next, done;
    std::atomic<int> holders;
    std::mutex mutex;
    std::exception_ptr failure;
  };

  static void work(job& j) {
    std::int64_t finished = 0;
    for (std::int64_t i; (i = j.next.fetch_add(1, std::memory_order_relaxed)) < j.parts; ++finished) {
      try {
        j.part(j.body, i * j.grain, std::min(j.n, (i + 1) * j.grain));
      } catch (...) {
        const std::lock_guard lock(j.mutex);
        if (!j.failure) j.failure = std::current_exception();
      }
    }
    if (finished != 0 && j.done.fetch_add(finished, std::memory_order_acq_rel) + finished == j.parts)
      j.done.notify_one();
  }

  job& take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<job>());
      free_.reserve(all_.size());
      return *all_.back();
    }
    job& j = *free_.back();
    free_.pop_back();
    return j;
  }
  void release(job& j) {
    if (j.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(&j);
    returned_.notify_one();
  }

  Eigen::ThreadPoolInterface& pool_;
  int threads_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<job>> all_;
  std::vector<job*> free_;
};

}  // namespace flowgraph::detail
