// fg::future: what run_async gives. Unlike std::future it leaves an exception to the thread that asked for it, the last
// reference included: where a thread of the pool drops it, thread sanitizers see a race that is none.
#pragma once
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace flowgraph {

namespace detail {

template <class T>
class promised {
 public:
  struct nothing {};
  using value = std::conditional_t<std::is_void_v<T>, nothing, T>;

  void set(std::optional<value> v, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(v);
    failure_ = std::move(failure);
    done_ = true;
    changed_.notify_all();
  }
  template <class Wait>
  bool wait(const Wait& wait) {
    std::unique_lock lock(mutex_);
    return wait(changed_, lock, [this] { return done_; });
  }
  T take() {
    wait([](auto& changed, auto& lock, const auto& done) {
      changed.wait(lock, done);
      return true;
    });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if constexpr (!std::is_void_v<T>) return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<value> value_;
  std::exception_ptr failure_;
};

}  // namespace detail

// May be moved, not copied. The step goes on if nobody keeps its future.
template <class T>
class future {
 public:
  future() = default;
  explicit future(std::shared_ptr<detail::promised<T>> from) : from_(std::move(from)) {}
  future(future&&) = default;
  future& operator=(future&&) = default;

  // False: it is empty, or its value has been taken.
  bool valid() const { return from_ != nullptr; }
  bool ready() const { return wait_for(std::chrono::seconds(0)); }
  // True: ready.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& time) const {
    return from_->wait([&](auto& changed, auto& lock, const auto& done) { return changed.wait_for(lock, time, done); });
  }
  void wait() const {
    from_->wait([](auto& changed, auto& lock, const auto& done) {
      changed.wait(lock, done);
      return true;
    });
  }
  // Waits; throws what the step threw. Once.
  T get() { return std::exchange(from_, nullptr)->take(); }

 private:
  std::shared_ptr<detail::promised<T>> from_;
};

}  // namespace flowgraph
