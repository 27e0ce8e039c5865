// fg::future: what run_async gives. Unlike std::future it leaves an exception to the thread that asked for it, the last
// reference included: where a thread of the pool drops it, thread sanitizers see a race that is none.
#pragma once
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine_here.hpp"
#include "static_step.hpp"

namespace flowgraph {

namespace detail {

// A value that comes, or what a step threw.
template <class T>
class promised : public step_listener {
 public:
  void end(std::exception_ptr failure) noexcept override {
    keep = nullptr;
    failure_ = std::move(failure);
    set_signal(*done_);
  }
  bool wait(double nanoseconds = no_end) const { return wait_for_signal(*done_, nanoseconds); }
  T take() {
    wait();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if constexpr (!std::is_void_v<T>) return std::move(*value_);
  }

  std::shared_ptr<const void> keep;  // until the step is over

 protected:
  struct nothing {};

  std::optional<std::conditional_t<std::is_void_v<T>, nothing, T>> value_;

 private:
  std::exception_ptr failure_;
  signal_handle done_ = signal_handle(make_signal());
};

template <class Values>
class promised_values final : public promised<collected<Values>> {
 public:
  void collect(const step_values& done) override {
    if constexpr (std::tuple_size_v<Values> > 0) this->value_.emplace(collect_values<Values>(done));
  }
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
  bool ready() const { return from_->wait(0); }
  // True: ready. A duration of <chrono>'s.
  template <class Duration>
    requires requires { Duration::period::num; }
  bool wait_for(const Duration& time) const {
    using period = typename Duration::period;
    return from_->wait(static_cast<double>(time.count()) * (1e9 * period::num / period::den));
  }
  void wait() const { from_->wait(); }
  // Waits; throws what the step threw. Once.
  T get() { return std::exchange(from_, nullptr)->take(); }

 private:
  std::shared_ptr<detail::promised<T>> from_;
};

namespace detail {

template <class Values>
future<collected<Values>> start_for_values(engine& e, prepared_step& s, const graph_view& g, const step_request& r,
                                           std::shared_ptr<const void> keep = nullptr) {
  auto promise = std::make_shared<promised_values<Values>>();
  promise->keep = std::move(keep);
  start(e, s, g, r, promise);
  return future<collected<Values>>(std::move(promise));
}

}  // namespace detail
}  // namespace flowgraph
