// How a step waits for a device: as for all that is under way elsewhere.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <flowgraph/engine/rendezvous/rendezvous.hpp>
#include "device.hpp"

namespace flowgraph::detail {

// Work of a device, and who waits for it.
class device_wait : public device_work {
 public:
  void done(std::exception_ptr failure) noexcept final {
    failure_ = std::move(failure);
    busy_.store(false);
    if (state_.exchange(state::over) == state::waited_for) waiter_->wake();
  }

 protected:
  ~device_wait() = default;

  // Before it begins, and before it is given.
  void prepare(waiter& w) {
    waiter_ = &w;
    failure_ = nullptr;
    state_.store(state::given);
  }
  void set_busy() { busy_.store(true); }
  bool is_busy() const { return busy_.load(); }
  // True: nobody is told.
  bool withdraw_from(device& d) noexcept {
    if (!d.withdraw(*this)) return false;
    busy_.store(false);
    return true;
  }
  // Afterwards. False: w is woken.
  bool is_done() {
    state s = state::given;
    return !state_.compare_exchange_strong(s, state::waited_for);
  }
  void rethrow() {
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  enum class state { given, waited_for, over };
  std::atomic<state> state_{state::over};
  std::atomic<bool> busy_{false};
  waiter* waiter_ = nullptr;
  std::exception_ptr failure_;
};

// An instruction of a device.
template <class Tag = void>
class basic_device_call final : public attempt, private device_wait {
 public:
  // stays: its thread waits for the device, because it has locks that instructions hold while they run.
  basic_device_call(device& d, const bound_call& call, bool stays) : device_(d), call_(call), stays_(stays) {}

  bool begin(const kernel_args&, waiter& w) override {
    if (!stays_) return give(w);
    thread_waiter here;
    if (!give(here)) here.wait_for(*this, nullptr);
    return true;
  }
  bool cancel() noexcept override { return !stays_ && withdraw_from(device_); }
  bool busy() const noexcept override { return is_busy(); }
  void finish(const kernel_args&) override { rethrow(); }

 private:
  bool give(waiter& w) {
    prepare(w);
    set_busy();
    try {
      device_.compute(call_, *this);
    } catch (...) {
      done(std::current_exception());
    }
    return is_done();
  }

  device& device_;
  const bound_call& call_;
  bool stays_;
};
using device_call = basic_device_call<>;

// An end of a channel whose values a device copies: between its operand and the landing, when the channel has room for
// it, or a value. What the end itself then finds in its place it does not copy again.
template <class Tag = void>
class basic_device_copy final : public attempt, private waiter, private device_wait {
 public:
  basic_device_copy(device& d, std::unique_ptr<attempt> end, const array_view& landing, int depth, bool sends)
      : device_(d),
        end_(std::move(end)),
        landing_(landing),
        depth_(depth),
        sends_(sends) {}

  bool begin(const kernel_args& k, waiter& w) override {
    there_ = sends_ ? k.in[0] : k.out[0];
    step_ = &w;
    prepare(w);
    if (!end_->begin(k, *this)) return false;
    copy();
    return is_done();
  }
  bool cancel() noexcept override { return end_->cancel() || withdraw_from(device_); }
  bool busy() const noexcept override { return is_busy(); }
  void finish(const kernel_args& k) override {
    rethrow();
    kernel_args own = k;
    there_.data = place();
    (sends_ ? own.in : own.out) = &there_;
    ++turn_;
    end_->finish(own);
  }
  void leave() noexcept override {
    turn_ = 0;
    end_->leave();
  }

 private:
  // The channel has room, or a value.
  void wake() noexcept override {
    copy();
    if (is_done()) step_->wake();
  }
  void copy() noexcept {
    void* const from = sends_ ? there_.data : place();
    void* const to = sends_ ? place() : there_.data;
    if (from == to) return done(nullptr);
    set_busy();
    try {
      device_.copy(to, from, static_cast<std::size_t>(there_.size() * size_of(there_.type)), *this);
    } catch (...) {
      done(std::current_exception());
    }
  }
  void* place() const { return place_of(landing_, turn_ % depth_); }

  device& device_;
  const std::unique_ptr<attempt> end_;
  const array_view& landing_;
  int depth_;
  bool sends_;
  std::int64_t turn_ = 0;
  array_view there_;
  waiter* step_ = nullptr;
};
using device_copy = basic_device_copy<>;

}  // namespace flowgraph::detail
