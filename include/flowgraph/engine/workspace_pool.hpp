// Workspaces of one plan, as many as steps have run at the same time.
#pragma once
#include <atomic>
#include <mutex>

#include <flowgraph/core/list.hpp>
#include "workspace.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_workspace_pool {
 public:
  // make() gives an owner<workspace>.
  template <class Make>
  workspace& take(const Make& make) {
    workspace* w = last_.exchange(nullptr, std::memory_order_acquire);
    return w != nullptr ? *w : take_another(make);
  }
  void give(workspace& w) {
    workspace* none = nullptr;
    if (last_.compare_exchange_strong(none, &w, std::memory_order_release, std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(&w);
  }

 private:
  template <class Make>
  [[gnu::noinline]] workspace& take_another(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        workspace* w = free_.back();
        free_.pop_back();
        return *w;
      }
    }
    owner<workspace> made = make();
    const std::lock_guard lock(mutex_);
    free_.reserve(all_.size() + 1);
    all_.push_back(std::move(made));
    return *all_.back();
  }

  std::atomic<workspace*> last_{nullptr};  // the one that was given back last, for a caller without competition
  std::mutex mutex_;
  list<owner<workspace>> all_;
  list<workspace*> free_;
};
using workspace_pool = basic_workspace_pool<>;

}  // namespace flowgraph::detail
