// Elements made ahead of their use, on threads of their own. At most `depth` of them wait at any moment; they come out
// in order, and an exception where its element would have come. Ending early stops and joins the threads.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "one_pass.hpp"

namespace flowgraph::detail {

template <class P, class Value>
class prefetcher {
 public:
  prefetcher(P inner, std::size_t depth, int threads) : inner_(std::move(inner)), slots_(depth) {
    // A sequence can be asked by one thread at a time.
    if constexpr (!indexed_pass<P>) threads = 1;
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (...) {
      if (threads_.empty()) throw;  // fewer threads than asked for do the same work
    }
  }
  prefetcher(const prefetcher&) = delete;
  prefetcher& operator=(const prefetcher&) = delete;
  ~prefetcher() {
    {
      const std::scoped_lock lock(mutex_);
      last_ = 0;
    }
    room_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  std::optional<Value> next() {
    slot here;
    {
      std::unique_lock lock(mutex_);
      if (ended_) return std::nullopt;
      slot& waited = slots_[taken_ % slots_.size()];
      ready_.wait(lock, [&] { return waited.filled; });
      here = std::exchange(waited, slot{});
      ++taken_;
      ended_ = !here.value;
    }
    room_.notify_all();
    if (here.error) std::rethrow_exception(here.error);
    return std::move(here.value);
  }

 private:
  // Neither value nor error: the end.
  struct slot {
    bool filled = false;
    std::optional<Value> value{};
    std::exception_ptr error{};
  };

  void work() {
    for (;;) {
      std::size_t ticket = 0;
      {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [&] { return claimed_ >= last_ || claimed_ < taken_ + slots_.size(); });
        if (claimed_ >= last_) return;
        ticket = claimed_++;
      }
      slot made = make(ticket);
      const bool more = made.value.has_value();
      {
        const std::scoped_lock lock(mutex_);
        slots_[ticket % slots_.size()] = std::move(made);
        if (!more) last_ = std::min(last_, ticket);
      }
      ready_.notify_one();
      if (!more) room_.notify_all();
    }
  }

  slot make(std::size_t ticket) {
    slot made{.filled = true};
    try {
      if constexpr (indexed_pass<P>) {
        const auto i = static_cast<std::int64_t>(ticket);
        if (i < inner_.size()) made.value.emplace(inner_.at(i));
      } else {
        made.value = inner_.next();
      }
    } catch (...) {
      made.error = std::current_exception();
    }
    return made;
  }

  P inner_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::vector<slot> slots_;
  // Tickets are the numbers of elements: claimed by a thread, taken by the consumer, none from last_ on.
  std::size_t claimed_ = 0, taken_ = 0, last_ = static_cast<std::size_t>(-1);
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

template <class Source>
struct prefetch_source {
  Source from;
  std::size_t depth;
  int threads;

  struct pass {
    std::unique_ptr<prefetcher<pass_of<Source>, value_of<Source>>> worker;

    auto next() { return worker->next(); }
  };
  auto open(std::uint64_t number) const {
    return pass{std::make_unique<prefetcher<pass_of<Source>, value_of<Source>>>(from.open(number), depth, threads)};
  }
};

}  // namespace flowgraph::detail
