// Receivers that write down what happens, for tests of links.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/net/endpoint.hpp>

namespace net_test {

using namespace flowgraph;
using namespace flowgraph::detail;

inline constexpr std::uint8_t tensor_kind = first_kind;

// Keeps whatever comes. Answers of place() are the test's to choose; without any, payloads up to `most` are taken.
class notes final : public link_receiver {
 public:
  using answer = std::function<placement(const frame_head&)>;
  struct arrival {
    frame_head head;
    std::vector<std::byte> body;
  };

  explicit notes(answer a = {}) : answer_(std::move(a)) {}

  void up(const peer_info& p) override {
    with([&] { peer_ = p, is_up_ = true; });
  }
  placement place(const frame_head& h) override {
    if (answer_)
      if (const placement p = answer_(h); p.where != placement::what::here || p.data != nullptr) return p;
    const std::lock_guard lock(mutex_);
    std::vector<std::byte>& b = coming_[key_of(h)];
    b.resize(h.bytes);
    return {placement::what::here, b.data()};
  }
  void arrived(const frame_head& h) override {
    std::function<void(const frame_head&)> then;
    with([&] {
      arrival a{h, {}};
      if (const auto c = coming_.find(key_of(h)); c != coming_.end() && h.bytes > 0) {
        a.body = std::move(c->second);
        coming_.erase(c);
      }
      arrivals_.push_back(std::move(a));
      then = then_;
    });
    if (then) then(h);
  }
  void draining() override {
    std::function<void()> f;
    with([&] { is_draining_ = true, f = on_drain_; });
    if (f) f();
  }
  void down(const peer_error& e) override {
    with([&] { down_ = std::make_unique<peer_error>(e), ++downs_; });
  }

  // Set before the link is made.
  void on_arrival(std::function<void(const frame_head&)> f) { then_ = std::move(f); }
  void on_draining(std::function<void()> f) { on_drain_ = std::move(f); }

  // Each waits; false: not within 20 s.
  bool wait_up() {
    bool up = false;
    wait([&] { return (up = is_up_) || down_; });
    return up;
  }
  bool wait_down() {
    return wait([&] { return down_ != nullptr; });
  }
  bool wait_arrivals(std::size_t n) {
    bool enough = false;
    wait([&] { return (enough = arrivals_.size() >= n) || down_; });
    return enough;
  }

  // After waiting.
  const peer_info& peer() const { return peer_; }
  bool up_now() const { return is_up_; }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return arrivals_.size();
  }
  std::deque<arrival> take_arrivals() {
    const std::lock_guard lock(mutex_);
    return std::exchange(arrivals_, {});
  }
  const peer_error* error() const { return down_.get(); }
  problem why() const { return down_ ? down_->why() : problem::none; }
  int downs() const { return downs_; }
  bool saw_draining() const { return is_draining_; }

 private:
  template <class F>
  void with(const F& f) {
    {
      const std::lock_guard lock(mutex_);
      f();
    }
    changed_.notify_all();
  }
  template <class F>
  bool wait(const F& f) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), f);
  }

  answer answer_;
  std::function<void(const frame_head&)> then_;
  std::function<void()> on_drain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  peer_info peer_;
  bool is_up_ = false, is_draining_ = false;
  std::map<channel_key, std::vector<std::byte>> coming_;
  std::deque<arrival> arrivals_;
  std::unique_ptr<peer_error> down_;
  int downs_ = 0;
};

// Counts how sends have ended.
class tally final : public sent_listener {
 public:
  void sent(const frame_head&, delivery d) noexcept override {
    const std::lock_guard lock(mutex_);
    ++counts_[static_cast<std::size_t>(d)];
    changed_.notify_all();  // under the lock: whoever waits may end this object
  }
  bool wait(std::size_t n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return all() >= n; });
  }
  std::size_t of(delivery d) {
    const std::lock_guard lock(mutex_);
    return counts_[static_cast<std::size_t>(d)];
  }
  std::size_t total() {
    const std::lock_guard lock(mutex_);
    return all();
  }

 private:
  std::size_t all() const { return counts_[0] + counts_[1] + counts_[2]; }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t counts_[3] = {};
};

inline frame_head head(std::uint32_t channel, std::uint64_t step = 0) {
  frame_head h;
  h.kind = tensor_kind;
  h.channel = channel;
  h.step = step;
  return h;
}

// Bytes that tell where they belong.
inline std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> v(bytes);
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ull + 1;
  for (std::size_t i = 0; i < bytes; i += 8) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t y = x ^ (x >> 29);
    std::memcpy(v.data() + i, &y, std::min<std::size_t>(8, bytes - i));
  }
  return v;
}
inline payload lend(const std::vector<std::byte>& v, sent_listener* l = nullptr) {
  return {v.data(), v.size(), nullptr, l};
}
inline payload give(std::vector<std::byte> v, sent_listener* l = nullptr) {
  const auto owner = std::make_shared<std::vector<std::byte>>(std::move(v));
  return {owner->data(), owner->size(), owner, l};
}

inline endpoint_options options_of(const task_name& self, std::uint64_t incarnation = 1) {
  endpoint_options o;
  o.self = self;
  o.cluster = "test";
  o.incarnation = incarnation;
  return o;
}

}  // namespace net_test
