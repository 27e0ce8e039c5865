// State of a session that steps wait for: a queue, a mutex, a barrier. Instructions with trait::waits are run by one.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

#include <flowgraph/engine/text.hpp>
#include <flowgraph/engine/threads/parking.hpp>

namespace flowgraph::detail {

class resource {
 public:
  resource() = default;
  resource(const resource&) = delete;
  resource& operator=(const resource&) = delete;
  virtual ~resource() = default;

  // For an instruction of this op with these attributes; step: tells apart who holds what. The resource outlives it.
  virtual std::unique_ptr<attempt> make_attempt(std::uint64_t op, const std::int64_t* words, const void* step) = 0;
};

// What never has to wait: work(kernel_args).
template <class Work>
class immediate final : public attempt {
 public:
  explicit immediate(const Work& w) : work_(w) {}
  bool begin(const kernel_args& k, waiter&) override {
    work_(k);
    return true;
  }
  bool cancel() noexcept override { return false; }
  void finish(const kernel_args&) override {}

 private:
  Work work_;
};
template <class Work>
std::unique_ptr<attempt> at_once(const Work& w) {
  return std::make_unique<immediate<Work>>(w);
}

}  // namespace flowgraph::detail
