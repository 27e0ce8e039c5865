// What every kind of device has to do: run_all(make) for each of them.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/engine/devices/device.hpp>
#include <flowgraph/plan/bind.hpp>

namespace device_conformance {

namespace fg = flowgraph;
using fg::detail::device;
using maker = std::function<std::shared_ptr<device>()>;
using namespace std::chrono_literals;

class told final : public fg::detail::device_work {
 public:
  void done(std::exception_ptr failure) noexcept override {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    ++times_;
    changed_.notify_all();
  }
  bool comes() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return times_ > 0; }) && times_ == 1;
  }
  int times() {
    const std::lock_guard lock(mutex_);
    return times_;
  }
  bool failed() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  int times_ = 0;
};

// y = 2 y + x, of one number: the order of calls can be told from the result.
inline void fold(const fg::kernel_args& k) {
  const auto x = *k.in[0].as<const std::int64_t>();
  if (x < 0) throw std::runtime_error("a kernel that fails");
  *k.out[0].as<std::int64_t>() = *k.out[0].as<std::int64_t>() * 2 + x;
}
struct call {
  call(void* x, void* y) : in{x, nullptr, 0, fg::dtype::int64}, out{y, nullptr, 0, fg::dtype::int64} {
    bound.kernel = &fold;
    bound.args.in = &in, bound.args.out = &out;
    bound.args.n_in = bound.args.n_out = 1;
  }
  fg::array_view in, out;
  fg::detail::bound_call bound;
  told end;
};

class room {
 public:
  room(device& d, std::size_t bytes) : device_(d), bytes_(bytes), at(d.allocate(bytes)) {}
  ~room() { device_.release(at, bytes_); }
  room(const room&) = delete;
  room& operator=(const room&) = delete;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(at);
  }

 private:
  device& device_;
  std::size_t bytes_;

 public:
  std::byte* const at;
};

inline void memory_is_aligned_and_the_hosts(const maker& make) {
  const auto d = make();
  for (const std::size_t n : {std::size_t{1}, std::size_t{64}, std::size_t{100'000}}) {
    const room a(*d, n), b(*d, n);
    CHECK(a.at != b.at);
    CHECK(reinterpret_cast<std::uintptr_t>(a.at) % fg::slot_alignment == 0);
    std::memset(a.at, 1, n);
    std::memset(b.at, 2, n);
    CHECK(a.at[n - 1] == std::byte{1});
  }
}

inline void work_is_done_in_order(const maker& make) {
  const auto d = make();
  const room x(*d, 64 * 8), y(*d, 64), z(*d, 64);
  for (int round = 0; round < 20; ++round) {
    *y.as<std::int64_t>() = 0, *z.as<std::int64_t>() = -1;
    std::deque<call> calls;
    std::int64_t expected = 0;
    for (int k = 0; k < 8; ++k) {
      x.as<std::int64_t>()[k] = (k * 5 + round) % 3;
      expected = expected * 2 + (k * 5 + round) % 3;
      call& c = calls.emplace_back(x.as<std::int64_t>() + k, y.at);
      d->compute(c.bound, c.end);
    }
    told copied;
    d->copy(z.at, y.at, 8, copied);
    CHECK(copied.comes());
    CHECK(*z.as<std::int64_t>() == expected);
    for (call& c : calls) CHECK(c.end.comes());
    told nothing;
    d->copy(z.at, y.at, 0, nothing);
    CHECK(nothing.comes());
  }
}

inline void a_failure_is_told_and_is_its_own(const maker& make) {
  const auto d = make();
  const room x(*d, 64), y(*d, 64);
  x.as<std::int64_t>()[0] = 1, x.as<std::int64_t>()[1] = -1;
  *y.as<std::int64_t>() = 3;
  call good(x.as<std::int64_t>(), y.at), bad(x.as<std::int64_t>() + 1, y.at), after(x.as<std::int64_t>(), y.at);
  d->compute(good.bound, good.end);
  d->compute(bad.bound, bad.end);
  d->compute(after.bound, after.end);
  CHECK(good.end.comes());
  CHECK(bad.end.comes());
  CHECK(after.end.comes());
  CHECK(!good.end.failed());
  CHECK(bad.end.failed());
  CHECK(!after.end.failed());
  CHECK(*y.as<std::int64_t>() == 15);
}

// Given by several threads, withdrawn by others: each is told of once or withdrawn once, never both.
inline void each_ends_once(const maker& make) {
  const auto d = make();
  std::atomic<int> wrong{0}, withdrawn{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        const room x(*d, 64), y(*d, 64);
        *x.as<std::int64_t>() = 0, *y.as<std::int64_t>() = 0;
        for (int k = 0; k < 50; ++k) {
          call c(x.at, y.at);
          d->compute(c.bound, c.end);
          std::atomic<int> got{0};
          {
            std::vector<std::jthread> two;
            for (int w = 0; w < 2 && k % 2 == 0; ++w) two.emplace_back([&] { got += d->withdraw(c.end); });
          }
          if (got == 0) wrong += !c.end.comes();
          wrong += c.end.times() + got != 1;
          wrong += d->withdraw(c.end);
          withdrawn += got;
        }
      });
  }
  CHECK(wrong == 0);
  MESSAGE(withdrawn.load(), " of 75 withdrawn");
}

inline void run_all(const maker& make) {
  SUBCASE("memory is aligned, and the host's") { memory_is_aligned_and_the_hosts(make); }
  SUBCASE("work is done in order") { work_is_done_in_order(make); }
  SUBCASE("a failure is told, and is its own") { a_failure_is_told_and_is_its_own(make); }
  SUBCASE("each ends once") { each_ends_once(make); }
}

}  // namespace device_conformance
