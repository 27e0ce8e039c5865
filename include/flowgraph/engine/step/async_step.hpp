// Steps of run_async: they run on the threads of a pool, and have none while they wait for each other.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/engine/threads/alarm_clock.hpp>
#include <flowgraph/engine/threads/task_line.hpp>
#include <flowgraph/session/future.hpp>
#include "executor.hpp"

namespace flowgraph::detail {

// What the asynchronous steps of a session share.
class async_crew {
 public:
  async_crew(std::function<void(std::function<void()>)> schedule, int threads) : line(std::move(schedule), threads) {}
  // Steps that wait end with a cancelled_error, others go on until they would wait.
  ~async_crew() {
    ending_.request_stop();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return steps_ == 0; });
  }

  void enter() {
    const std::lock_guard lock(mutex_);
    ++steps_;
  }
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    if (--steps_ == 0) changed_.notify_all();
  }
  std::stop_token ending() const { return ending_.get_token(); }

 private:
  std::stop_source ending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int steps_ = 0;

 public:
  alarm_clock clock;
  task_line line;  // last: its runners use the others
};

// Copies of what a step is fed, since the caller's may be gone before it runs.
class kept_feeds {
 public:
  kept_feeds(const borrowed* const* feeds, int n) {
    for (int i = 0; i < n; ++i) {
      borrowed b = *feeds[i];
      const auto bytes = static_cast<std::size_t>(b.count) * static_cast<std::size_t>(size_of(b.type));
      memory_.push_back(allocate_aligned<std::byte>(bytes));
      if (bytes > 0) std::memcpy(memory_.back().get(), b.data, bytes);
      b.data = memory_.back().get();
      all_.push_back(b);
    }
    for (const borrowed& b : all_) pointers_.push_back(&b);
  }
  const borrowed* const* data() const { return pointers_.data(); }

 private:
  std::vector<aligned_buffer<std::byte>> memory_;
  std::vector<borrowed> all_;
  std::vector<const borrowed*> pointers_;
};

// One step: a task when it can run, a waiter when it can't. It deletes itself when it is over.
class async_step : public waiter, public task_line::task, public alarm_clock::alarm {
 public:
  void run() noexcept final {
    for (;;) {
      unwatch();
      turn_ = turn::running;
      if (proceed()) break;
      watch();
      if (turn_.exchange(turn::parked) != turn::woken) return;  // who wakes it goes on here, or has done so
    }
    async_crew& crew = crew_;
    delete this;
    crew.leave();
  }
  void wake() noexcept final {
    if (turn_.exchange(turn::woken) == turn::parked) crew_.line.add(*this);
  }
  void ring() noexcept final {
    interrupt(std::make_exception_ptr(deadline_error(problem::deadline_passed, sentence(problem::deadline_passed))));
  }

 protected:
  async_step(async_crew& crew, const limits* l) : crew_(crew), limits_(l != nullptr ? *l : limits{}), limited_(l) {}
  virtual ~async_step() = default;

  // True: the step is over.
  virtual bool proceed() noexcept = 0;
  virtual step_run& step() = 0;
  const limits* within() const { return limited_ ? &limits_ : nullptr; }

 private:
  enum class turn { running, parked, woken };

  struct stopped {
    async_step* step;
    problem why;
    void operator()() const noexcept { step->interrupt(std::make_exception_ptr(cancelled_error(why, sentence(why)))); }
  };

  void watch() {
    ending_.emplace(crew_.ending(), stopped{this, problem::session_ended});
    if (!limited_) return;
    stop_.emplace(limits_.stop, stopped{this, problem::cancelled});
    timed_ = limits_.deadline != limits::clock::time_point::max();
    if (timed_) crew_.clock.set(limits_.deadline, *this);
  }
  void unwatch() {
    ending_.reset();
    stop_.reset();
    if (std::exchange(timed_, false)) crew_.clock.forget(*this);
  }
  void interrupt(std::exception_ptr why) noexcept {
    if (!step().awaited().cancel()) return;
    step().interrupt(std::move(why));
    wake();
  }

  async_crew& crew_;
  const limits limits_;
  bool limited_, timed_ = false;
  std::atomic<turn> turn_{turn::running};
  std::optional<std::stop_callback<stopped>> ending_, stop_;
};

// Flight: what runs the step and has its values; collect(values) gives the Value that the future gets.
template <class Flight, class Value, class Collect>
class async_flight final : public async_step {
 public:
  // Throws feed_error. make(optional<Flight>&, graph_view, feeds, limits) makes it.
  template <class Make>
  async_flight(async_crew& crew, const graph_view& g, const borrowed* const* feeds, int n_feeds, const limits* l,
               const Collect& collect, const Make& make)
      : async_step(crew, l),
        graph_(g),
        feeds_(feeds, n_feeds),
        collect_(collect) {
    make(flight_, graph_, feeds_.data(), within());
  }
  flowgraph::future<Value> future() const { return flowgraph::future<Value>(promise_); }

 private:
  // Its locks and its memory are given back before anybody hears of the end, and so is every reference to an exception.
  bool proceed() noexcept override {
    std::optional<typename promised<Value>::value> value;
    std::exception_ptr failure;
    try {
      if (!flight_->go_on(this)) return false;
      if constexpr (std::is_void_v<Value>) {
        collect_(flight_->values());
        value.emplace();
      } else {
        value.emplace(collect_(flight_->values()));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    flight_.reset();
    promise_->set(std::move(value), std::move(failure));
    return true;
  }
  step_run& step() override { return flight_->step(); }

  graph_view graph_;
  kept_feeds feeds_;
  Collect collect_;
  std::optional<Flight> flight_;
  std::shared_ptr<promised<Value>> promise_ = std::make_shared<promised<Value>>();
};

}  // namespace flowgraph::detail
