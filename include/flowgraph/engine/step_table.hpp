// The steps that a session has prepared, by signature. Looking one up takes no lock: entries are only ever added, each
// in front of its list.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include <flowgraph/core/list.hpp>

namespace flowgraph::detail {

template <class Step>
class step_table {
 public:
  // The step with this hash that is(step) is true for; otherwise make(), an owner<Step>, is added.
  template <class Is, class Make>
  Step& find(std::uint64_t hash, const Is& is, const Make& make) {
    std::atomic<entry*>& list = lists_[hash % lists_.size()];
    if (Step* s = find(list, is)) return *s;
    const std::lock_guard lock(mutex_);
    if (Step* s = find(list, is)) return *s;
    auto e = make_owner<entry>();
    e->step = make();
    e->next = list.load(std::memory_order_relaxed);
    all_.push_back(std::move(e));
    list.store(all_.back().get(), std::memory_order_release);
    return *all_.back()->step;
  }

 private:
  struct entry {
    owner<Step> step;
    entry* next = nullptr;
  };

  template <class Is>
  static Step* find(const std::atomic<entry*>& list, const Is& is) {
    for (entry* e = list.load(std::memory_order_acquire); e != nullptr; e = e->next)
      if (is(static_cast<const Step&>(*e->step))) return e->step.get();
    return nullptr;
  }

  std::array<std::atomic<entry*>, 64> lists_{};
  std::mutex mutex_;
  list<owner<entry>> all_;
};

}  // namespace flowgraph::detail
