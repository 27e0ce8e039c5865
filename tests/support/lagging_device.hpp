// A second kind of device, in tests: it does everything on a thread of its own, late, and tells of it later still, when
// it has already begun other things. Its memory is full of odd numbers.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/engine/devices/cpu.hpp>

class lagging_device final : public flowgraph::detail::device {
 public:
  explicit lagging_device(unsigned seed = 1) : random_(seed) {}
  ~lagging_device() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  std::byte* allocate(std::size_t bytes) override {
    if (full) throw std::bad_alloc();
    std::byte* const memory = flowgraph::detail::allocate_aligned<std::byte>(bytes).release();
    std::memset(memory, 0xA5, bytes);
    const std::lock_guard lock(mutex_);
    allocated_[memory] = bytes;
    return memory;
  }
  void release(std::byte* memory, std::size_t bytes) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      const auto known = allocated_.find(memory);
      if (known == allocated_.end() || known->second != bytes) std::terminate();
      allocated_.erase(known);
      std::memset(memory, 0x5A, bytes);
    }
    flowgraph::detail::aligned_buffer<std::byte>{memory};
  }
  void compute(const flowgraph::detail::bound_call& call, flowgraph::detail::device_work& work) override {
    give({&work, &call, nullptr, nullptr, 0, nullptr});
  }
  void copy(void* to, const void* from, std::size_t bytes, flowgraph::detail::device_work& work) override {
    give({&work, nullptr, to, from, bytes, nullptr});
  }
  bool withdraw(flowgraph::detail::device_work& work) noexcept override {
    const std::lock_guard lock(mutex_);
    for (auto x = line_.begin(); x != line_.end(); ++x) {
      if (x->of != &work) continue;
      line_.erase(x);
      ++withdrawn_;
      return true;
    }
    return false;
  }

  std::atomic<bool> full{false};  // it has no memory to give
  // What it has been asked for: bytes at this moment, and things done and withdrawn until now.
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [at, n] : allocated_) sum += n;
    return sum;
  }
  int computed() {
    const std::lock_guard lock(mutex_);
    return computed_;
  }
  int copied() {
    const std::lock_guard lock(mutex_);
    return copied_;
  }

 private:
  struct item {
    flowgraph::detail::device_work* of;
    const flowgraph::detail::bound_call* call;
    void* to;
    const void* from;
    std::size_t bytes;
    std::exception_ptr failure;
  };

  void give(item x) {
    {
      const std::lock_guard lock(mutex_);
      line_.push_back(std::move(x));
    }
    changed_.notify_all();
  }
  static void execute(item& x) noexcept {
    try {
      if (x.call != nullptr)
        (*x.call)();
      else if (x.bytes > 0)
        std::memcpy(x.to, x.from, x.bytes);
    } catch (...) {
      x.failure = std::current_exception();
    }
  }
  void work() {
    std::vector<item> untold;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (untold.empty()) changed_.wait(lock, [this] { return closed_ || !line_.empty(); });
      if (line_.empty() && untold.empty()) return;
      if (!line_.empty()) {
        item x = std::move(line_.front());
        line_.pop_front();
        ++(x.call != nullptr ? computed_ : copied_);
        const unsigned pause = random_() % 16;
        lock.unlock();
        for (unsigned k = 0; k < pause; ++k) std::this_thread::yield();
        execute(x);
        untold.push_back(std::move(x));
        lock.lock();
      }
      if (!line_.empty() && untold.size() < 4 && random_() % 2 == 0) continue;
      lock.unlock();
      for (item& x : untold) x.of->done(std::move(x.failure));
      untold.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<item> line_;
  std::map<std::byte*, std::size_t> allocated_;
  std::mt19937 random_;
  int computed_ = 0, copied_ = 0, withdrawn_ = 0;
  bool closed_ = false;
  std::jthread thread_{[this] { work(); }};
};

// "gpu" is a kind that plans know; these lag.
class lagging_devices final : public flowgraph::detail::device_source {
 public:
  std::shared_ptr<flowgraph::detail::device> find(std::string_view name) override {
    if (name.find("gpu") == std::string_view::npos) return nullptr;
    std::shared_ptr<lagging_device>& d = all_[std::string(name)];
    if (d == nullptr) d = std::make_shared<lagging_device>(static_cast<unsigned>(all_.size()));
    return d;
  }
  lagging_device& at(std::string_view name) { return *all_.at(std::string(name)); }

 private:
  std::map<std::string, std::shared_ptr<lagging_device>> all_;
};
