// Who may read or change a variable: any number of readers, or one writer. One word for each variable, so that a step
// without competition pays one atomic operation; who has to wait stands in the variable's line, without a thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include <flowgraph/engine/threads/linked_list.hpp>

namespace flowgraph::detail {

// Of a session: keeps all its variables' lines.
struct waiting_room {
  std::mutex mutex;
  std::atomic<int> waiting{0};
};

// Somebody in a variable's line.
struct variable_turn {
  variable_turn *next, *before;
  bool exclusive, claimed;
  bool in_line = false;
};

// A writer who is the first in line claims the lock, which keeps new readers out, then waits for those inside: a stream
// of readers can't keep it waiting for ever.
template <class Tag = void>
class basic_variable_lock {
 public:
  bool try_lock(bool exclusive) { return exclusive ? take() : enter(); }
  // Afterwards, if anybody waits in the room, somebody in line may have the lock: next().
  void unlock(bool exclusive) {
    if (exclusive)
      word_.fetch_and(~writer);
    else
      word_.fetch_sub(1);
  }

  // The rest with the room's mutex. False: it stands in line.
  bool stand(variable_turn& t, bool exclusive) {
    t.exclusive = exclusive;
    t.claimed = false;
    if (line_.empty() && got(t)) return true;
    line_.push_back(&t);
    t.in_line = true;
    return false;
  }
  // The first in line if it has the lock now; then it is no longer in line. Null: nobody is, or it waits.
  variable_turn* next() {
    if (line_.empty() || !got(*line_.front())) return nullptr;
    line_.front()->in_line = false;
    return line_.pop_front();
  }
  // Of one in line. Others may have the lock afterwards.
  void leave(variable_turn& t) {
    line_.remove(&t);
    t.in_line = false;
    if (t.claimed) word_.fetch_and(~writer);
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
  bool got(variable_turn& t) {
    if (!t.exclusive) return enter();
    t.claimed = t.claimed || (word_.fetch_or(writer) & writer) == 0;
    return t.claimed && word_.load() == writer;
  }

  std::atomic<std::uint32_t> word_{0};
  linked_list<variable_turn> line_;
};
using variable_lock = basic_variable_lock<>;

}  // namespace flowgraph::detail
