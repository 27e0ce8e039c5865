// Where devices that share memory meet: what one sends another receives, whoever comes first. A channel takes one value
// a turn, in the order of turns, and has room for a few: who is further ahead waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <flowgraph/engine/threads/parking.hpp>
#include <flowgraph/plan/bind.hpp>
#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

template <class Tag = void>
class basic_local_channel {
 public:
  // depth: how many values may be on the way.
  explicit basic_local_channel(int depth) : depth_(depth) {}

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

  // Where values are on their way, one behind the other; of no type: the news alone goes this way.
  array_view value;

  // Nothing is on the way.
  void clear() {
    sent_ = received_ = 0;
    sender_ = receiver_ = nullptr;
  }

 private:
  bool may_send(waiter& w) {
    const std::lock_guard lock(mutex_);
    if (sent_ - received_ < depth_) return true;
    sender_ = &w;
    return false;
  }
  bool may_receive(waiter& w) {
    const std::lock_guard lock(mutex_);
    if (sent_ > received_) return true;
    receiver_ = &w;
    return false;
  }
  // Each end is one instruction, so that nobody else takes the place or the value meanwhile.
  void send(const kernel_args& k) {
    if (value.type != dtype::none) copy(k.in[0].data, place(sent_));
    wake(sent_, receiver_);
  }
  void receive(const kernel_args& k) {
    if (value.type != dtype::none) copy(place(received_), k.out[0].data);
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
  std::size_t bytes() const { return static_cast<std::size_t>(value.size() * size_of(value.type)); }
  std::byte* place(std::int64_t n) const {
    const std::size_t each = (bytes() + slot_alignment - 1) / slot_alignment * slot_alignment;
    return value.as<std::byte>() + static_cast<std::size_t>(n % depth_) * each;
  }
  // What arrives in its place is there already.
  void copy(const void* from, void* to) const {
    if (from != to && bytes() > 0) std::memcpy(to, from, bytes());
  }

  std::mutex mutex_;
  int depth_;
  std::int64_t sent_ = 0, received_ = 0;  // each is changed by its own end alone
  waiter *sender_ = nullptr, *receiver_ = nullptr;
};
using local_channel = basic_local_channel<>;

}  // namespace flowgraph::detail
