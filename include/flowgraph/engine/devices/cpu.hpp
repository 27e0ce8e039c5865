// The CPU as a device: whoever gives it something to do does it. Engines take memory from it; they call kernels
// themselves.
#pragma once
#include <cstring>
#include <utility>

#include <flowgraph/arrays/ndarray.hpp>
#include "device.hpp"

namespace flowgraph::detail {

class cpu_device final : public device {
 public:
  static cpu_device& instance() {
    static cpu_device d;
    return d;
  }

  std::byte* allocate(std::size_t bytes) override { return allocate_aligned<std::byte>(bytes).release(); }
  void release(std::byte* memory, std::size_t) noexcept override { aligned_buffer<std::byte>{memory}; }
  void compute(const bound_call& call, device_work& work) override {
    std::exception_ptr failure;
    try {
      call();
    } catch (...) {
      failure = std::current_exception();
    }
    work.done(std::move(failure));
  }
  void copy(void* to, const void* from, std::size_t bytes, device_work& work) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
    work.done(nullptr);
  }
  bool withdraw(device_work&) noexcept override { return false; }
};

// What a step has of a device's memory. It grows, and keeps nothing.
class arena {
 public:
  explicit arena(device* of) : of_(of != nullptr ? *of : cpu_device::instance()) {}
  arena(arena&& other) noexcept
      : of_(other.of_),
        memory_(std::exchange(other.memory_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  arena& operator=(arena&&) = delete;
  ~arena() { clear(); }

  std::byte* memory() const { return memory_; }
  void make_room(std::int64_t bytes) {
    if (bytes <= capacity_) return;
    clear();  // there may be none to be had
    memory_ = of_.allocate(static_cast<std::size_t>(bytes));
    capacity_ = bytes;
  }

 private:
  void clear() {
    if (memory_ != nullptr) of_.release(memory_, static_cast<std::size_t>(capacity_));
    memory_ = nullptr;
    capacity_ = 0;
  }

  device& of_;
  std::byte* memory_ = nullptr;
  std::int64_t capacity_ = 0;
};

}  // namespace flowgraph::detail
