// Something of a step that is under way elsewhere: an instruction that a queue, a mutex, or another device does. It
// lives in the workspace, so that waiting allocates nothing.
#pragma once
#include <atomic>
#include <memory>
#include <utility>

#include <flowgraph/engine/threads/parking.hpp>

namespace flowgraph::detail {

class awaited final : public waiter {
 public:
  awaited(int i, std::unique_ptr<attempt> a) : what(std::move(a)), instruction(i) {}
  awaited(const awaited&) = delete;
  awaited& operator=(const awaited&) = delete;

  // complete(walk, *this) is called by whoever completes it, on any thread.
  void begin_step(void* walk, void (*complete)(void*, awaited&)) {
    walk_ = walk;
    complete_ = complete;
    armed.store(false, std::memory_order_relaxed);
    resumes = false;
  }
  void wake() noexcept override { complete_(walk_, *this); }

  const std::unique_ptr<attempt> what;
  const int instruction;
  std::atomic<bool> armed{false};  // it has begun, and is not done as far as is known
  bool resumes = false;            // it was woken: what is left is to finish it

 private:
  void* walk_ = nullptr;
  void (*complete_)(void*, awaited&) = nullptr;
};

}  // namespace flowgraph::detail
