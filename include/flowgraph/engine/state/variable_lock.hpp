// Who may read or change a variable: any number of readers, or one writer. One word for each variable, so that a step
// without competition pays one atomic operation; who has to wait does so in the one waiting room of the session.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <flowgraph/engine/step/step_limits.hpp>

namespace flowgraph::detail {

struct waiting_room {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::atomic<int> waiting{0};

  // After a lock was given back.
  void tell() {
    if (waiting.load() == 0) return;
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }
};

// A writer first claims the lock, which keeps new readers out, then waits for those inside: a stream of readers can't
// keep it waiting for ever.
template <class Tag = void>
class basic_variable_lock {
 public:
  // Throws, without the lock, when the limits say so.
  void lock(waiting_room& room, bool exclusive, const step_limits* within) {
    if (exclusive ? !take() : !enter()) wait(room, exclusive, within);
  }
  void unlock(waiting_room& room, bool exclusive) {
    if (exclusive)
      word_.fetch_and(~writer);
    else
      word_.fetch_sub(1);
    room.tell();
  }

 private:
  static constexpr std::uint32_t writer = 1u << 31;

  bool enter() {
    std::uint32_t now = word_.load(std::memory_order_relaxed);
    while ((now & writer) == 0)
      if (word_.compare_exchange_weak(now, now + 1)) return true;
    return false;
  }
  bool take() {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, writer);
  }

  [[gnu::noinline]] void wait(waiting_room& room, bool exclusive, const step_limits* within) {
    std::unique_lock lock(room.mutex);
    ++room.waiting;
    bool claimed = false, got = false;
    const auto ready = [&] {
      if (!exclusive) return got = enter();
      claimed = claimed || (word_.fetch_or(writer) & writer) == 0;
      return got = claimed && word_.load() == writer;
    };
    try {
      if (within == nullptr) room.changed.wait(lock, ready);
      while (!got) {
        within->wait(room.changed, lock, ready);
        if (!got) within->check();
      }
    } catch (...) {
      if (claimed) word_.fetch_and(~writer);
      --room.waiting;
      room.changed.notify_all();
      throw;
    }
    --room.waiting;
  }

  std::atomic<std::uint32_t> word_{0};
};
using variable_lock = basic_variable_lock<>;

}  // namespace flowgraph::detail
