// Where devices that share memory meet: a channel takes one value a turn, in the order of turns, and has room for a
// few; who is further ahead waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <flowgraph/core/list.hpp>
#include "rendezvous.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_local_channel {
 public:
  // depth: how many values may be on the way.
  basic_local_channel(int depth, const abort_reason& ended) : depth_(depth), ended_(ended) {}

  class sending final : public attempt {
   public:
    explicit sending(basic_local_channel& c) : channel_(c) {}
    bool begin(const kernel_args&, waiter& w) override { return channel_.may_send(w); }
    bool cancel() noexcept override { return channel_.forget(channel_.sender_); }
    void finish(const kernel_args& k) override { channel_.send(k); }

   private:
    basic_local_channel& channel_;
  };

  class receiving final : public attempt {
   public:
    explicit receiving(basic_local_channel& c) : channel_(c) {}
    bool begin(const kernel_args&, waiter& w) override { return channel_.may_receive(w); }
    bool cancel() noexcept override { return channel_.forget(channel_.receiver_); }
    void finish(const kernel_args& k) override { channel_.receive(k); }

   private:
    basic_local_channel& channel_;
  };

  // Nothing is on the way. landing: outlives the step.
  void begin(const array_view& landing) {
    landing_ = &landing;
    sent_ = received_ = 0;
    sender_ = receiver_ = nullptr;
  }
  // ended_ is known by now.
  void abort() noexcept {
    waiter *s = nullptr, *r = nullptr;
    {
      const std::lock_guard lock(mutex_);
      s = std::exchange(sender_, nullptr);
      r = std::exchange(receiver_, nullptr);
    }
    if (s != nullptr) s->wake();
    if (r != nullptr) r->wake();
  }

 private:
  bool may_send(waiter& w) {
    const std::lock_guard lock(mutex_);
    if (sent_ - received_ < depth_ || ended_.known()) return true;
    sender_ = &w;
    return false;
  }
  bool may_receive(waiter& w) {
    const std::lock_guard lock(mutex_);
    if (sent_ > received_ || ended_.known()) return true;
    receiver_ = &w;
    return false;
  }
  // Each end is one instruction, so that nobody else takes the place or the value meanwhile.
  void send(const kernel_args& k) {
    if (ended_.known()) ended_.refuse();
    if (landing_->type != dtype::none) copy(k.in[0].data, place_of(*landing_, sent_ % depth_));
    wake(sent_, receiver_);
  }
  void receive(const kernel_args& k) {
    if (ended_.known()) ended_.refuse();
    if (landing_->type != dtype::none) copy(place_of(*landing_, received_ % depth_), k.out[0].data);
    wake(received_, sender_);
  }
  void wake(std::int64_t& count, waiter*& other) {
    waiter* w = nullptr;
    {
      const std::lock_guard lock(mutex_);
      ++count;
      w = std::exchange(other, nullptr);
    }
    if (w != nullptr) w->wake();
  }
  bool forget(waiter*& w) noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(w, nullptr) != nullptr;
  }
  // What arrives in its place is there already.
  void copy(const void* from, void* to) const {
    const std::int64_t bytes = landing_->size() * size_of(landing_->type);
    if (from != to && bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  std::mutex mutex_;
  const int depth_;
  const abort_reason& ended_;
  const array_view* landing_ = nullptr;
  std::int64_t sent_ = 0, received_ = 0;  // each is changed by its own end alone
  waiter *sender_ = nullptr, *receiver_ = nullptr;
};
using local_channel = basic_local_channel<>;

// Of the channels that have both ends in a plan.
template <class Tag = void>
class basic_local_rendezvous final : public rendezvous {
 public:
  explicit basic_local_rendezvous(const plan_view& p) {
    for (const channel& c : p.channels)
      channels_.push_back(is_here(c) ? make_owner<local_channel>(depth_of(p, c), ended_) : nullptr);
  }

  std::unique_ptr<attempt> sender(int channel) override {
    return std::unique_ptr<attempt>(new local_channel::sending(*channels_[static_cast<std::size_t>(channel)]));
  }
  std::unique_ptr<attempt> receiver(int channel) override {
    return std::unique_ptr<attempt>(new local_channel::receiving(*channels_[static_cast<std::size_t>(channel)]));
  }
  // Nobody else knows of the step: its number says nothing here.
  void begin(const rendezvous_step& s) override {
    ended_.clear();
    for (std::size_t k = 0; k < channels_.size(); ++k)
      if (channels_[k] != nullptr) channels_[k]->begin(s.landings[k]);
  }
  void abort(problem why, std::string_view reason) noexcept override {
    if (!ended_.set(why, reason)) return;
    for (const auto& c : channels_)
      if (c != nullptr) c->abort();
  }
  void end() noexcept override {}

 private:
  abort_reason ended_;
  list<owner<local_channel>> channels_;  // null: not here
};
using local_rendezvous = basic_local_rendezvous<>;

}  // namespace flowgraph::detail
