// Defines what prefetch.hpp declares: the threads, and who may make which element when.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "prefetch.hpp"

namespace flowgraph::detail {

class prefetch_threads {
 public:
  prefetch_threads(prefetch_work& work, std::size_t depth, int threads) : work_(work), filled_(depth) {
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (...) {
      if (threads_.empty()) throw;  // fewer threads than asked for do the same work
    }
  }
  prefetch_threads(const prefetch_threads&) = delete;
  prefetch_threads& operator=(const prefetch_threads&) = delete;
  ~prefetch_threads() {
    {
      const std::scoped_lock lock(mutex_);
      last_ = 0;
    }
    room_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  void wait(std::size_t number) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return filled_[number % filled_.size()]; });
  }
  void take(std::size_t number) {
    {
      const std::scoped_lock lock(mutex_);
      filled_[number % filled_.size()] = false;
      ++taken_;
    }
    room_.notify_all();
  }

 private:
  void run() {
    for (;;) {
      std::size_t ticket = 0;
      {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [&] { return claimed_ >= last_ || claimed_ < taken_ + filled_.size(); });
        if (claimed_ >= last_) return;
        ticket = claimed_++;
      }
      const bool more = work_.make(ticket);
      {
        const std::scoped_lock lock(mutex_);
        filled_[ticket % filled_.size()] = true;
        if (!more) last_ = std::min(last_, ticket);
      }
      ready_.notify_one();
      if (!more) room_.notify_all();
    }
  }

  prefetch_work& work_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::vector<bool> filled_;  // the places of elements
  // Tickets are the numbers of elements: claimed by a thread, taken by the consumer, none from last_ on.
  std::size_t claimed_ = 0, taken_ = 0, last_ = static_cast<std::size_t>(-1);
  std::vector<std::thread> threads_;
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF prefetch_handle begin_prefetch(prefetch_work& work, std::size_t depth, int threads) {
  return prefetch_handle(new prefetch_threads(work, depth, threads));
}
FLOWGRAPH_OTHER_HALF void give_back(prefetch_threads* t) noexcept { delete t; }
FLOWGRAPH_OTHER_HALF void wait_for_element(prefetch_threads& t, std::size_t number) { t.wait(number); }
FLOWGRAPH_OTHER_HALF void take_element(prefetch_threads& t, std::size_t number) { t.take(number); }

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
