// Instructions that are ready, in the order in which they became so, for any number of threads that take and add them.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <flowgraph/core/list.hpp>

namespace flowgraph::detail {

template <class Tag = void>
class basic_ready_ring {
 public:
  // most: how many there can be at once.
  explicit basic_ready_ring(int most)
      : mask_(std::bit_ceil(static_cast<std::size_t>(most) + 1) - 1),
        places_(list<std::atomic<int>>(mask_ + 1)) {
    for (std::size_t i = 0; i <= mask_; ++i) places_[i].store(-1, std::memory_order_relaxed);
  }

  void push(int i) {
    std::atomic<int>& place = at(end_.fetch_add(1));
    // Whoever has taken the place one round before may not have read it yet.
    for (int none = -1; !place.compare_exchange_weak(none, i); none = -1)
      if (none != -1) std::this_thread::yield();
  }
  // -1: there is none.
  int pop() {
    std::int64_t first = first_.load();
    while (first < end_.load()) {
      if (!first_.compare_exchange_weak(first, first + 1)) continue;
      for (;;) {
        const int i = at(first).exchange(-1);
        if (i >= 0) return i;
        std::this_thread::yield();  // whoever added it is about to fill the place
      }
    }
    return -1;
  }
  std::int64_t size() const { return end_.load() - first_.load(); }

 private:
  std::atomic<int>& at(std::int64_t i) { return places_[static_cast<std::size_t>(i) & mask_]; }

  std::size_t mask_;
  list<std::atomic<int>> places_;
  std::atomic<std::int64_t> first_{0}, end_{0};
};
using ready_ring = basic_ready_ring<>;

}  // namespace flowgraph::detail
