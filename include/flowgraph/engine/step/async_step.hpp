// A step of run_async: it runs on the threads of a crew, and has none while it waits for other steps.
#pragma once
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/engine.hpp>

namespace flowgraph::detail {

// Copies of what a step is fed, since the caller's may be gone before it runs.
template <class Tag = void>
class basic_kept_feeds {
 public:
  basic_kept_feeds(const borrowed* const* feeds, int n) {
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
  list<aligned_buffer<std::byte>> memory_;
  list<borrowed> all_;
  list<const borrowed*> pointers_;
};
using kept_feeds = basic_kept_feeds<>;

// One step: a task when it can run, a waiter when it can't. It deletes itself when it is over.
template <class Tag = void>
class basic_async_step final : public waiter, public crew::task, public timer::alarm {
 public:
  // Throws feed_error.
  basic_async_step(engine& e, prepared_step& s, const graph_view& g, const step_request& r,
                   std::shared_ptr<step_listener> listener)
      : threads_(e.threads()),
        others_(e.without_callers()),
        graph_(g),
        feeds_(r.feeds, s.program.plan().feeds.size()),
        limits_(r.within != nullptr ? *r.within : limits{}),
        at_(r.at != nullptr ? *r.at : random_position()),
        limited_(r.within != nullptr),
        listener_(std::move(listener)) {
    step_.emplace(e, s, graph_,
                  step_request{feeds_.data(), limited_ ? &limits_ : nullptr, r.at != nullptr ? &at_ : nullptr});
  }

  bool timed() const { return limited_ && limits_.deadline != limits::clock::time_point::max(); }

  void run() noexcept final {
    for (;;) {
      unwatch();
      turn_ = turn::running;
      if (proceed()) break;
      watch();
      if (turn_.exchange(turn::parked) != turn::woken) return;  // who wakes it goes on here, or has done so
    }
    async_steps& others = others_;
    const bool had_time = timed();
    delete this;
    others.leave(had_time);
  }
  void wake() noexcept final {
    if (turn_.exchange(turn::woken) == turn::parked) threads_.post(*this);
  }
  void ring() noexcept final { interrupt(problem::deadline_passed); }

 private:
  // True: the step is over. Its locks and its memory are given back before anybody hears of the end, and so is every
  // reference to an exception.
  bool proceed() noexcept {
    std::exception_ptr failure;
    try {
      if (!step_->go_on(this)) return false;
      listener_->collect(step_->values());
    } catch (...) {
      failure = std::current_exception();
    }
    step_.reset();
    listener_->end(std::move(failure));
    return true;
  }

  enum class turn { running, parked, woken };

  struct stopped {
    basic_async_step* step;
    problem why;
    void operator()() const noexcept { step->interrupt(why); }
  };

  void watch() {
    ending_.emplace(others_.ending(), stopped{this, problem::session_ended});
    if (!limited_) return;
    stop_.emplace(limits_.stop, stopped{this, problem::cancelled});
    if (timed()) others_.time.set(limits_.deadline, *this);
    watched_ = true;
  }
  void unwatch() {
    ending_.reset();
    stop_.reset();
    if (std::exchange(watched_, false) && timed()) others_.time.forget(*this);
  }
  void interrupt(problem why) noexcept {
    if (step_->interrupt(why)) wake();
  }

  crew& threads_;
  async_steps& others_;
  graph_view graph_;
  kept_feeds feeds_;
  const limits limits_;
  const random_position at_;
  bool limited_, watched_ = false;
  std::shared_ptr<step_listener> listener_;
  std::optional<engine::running_step> step_;
  std::atomic<turn> turn_{turn::running};
  std::optional<std::stop_callback<stopped>> ending_, stop_;
};
using async_step = basic_async_step<>;

}  // namespace flowgraph::detail
