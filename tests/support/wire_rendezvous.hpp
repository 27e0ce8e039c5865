// A way between tasks as a network would be, in one process: messages are copied, come later, on another thread, and
// those of different channels in any order. For tests of what runs parts of plans.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <flowgraph/engine/rendezvous/rendezvous.hpp>

namespace wire {

namespace fg = flowgraph;
using fg::detail::waiter;

struct message {
  enum class kind { value, received, abort } is = kind::value;
  std::uint64_t step = 0;
  int channel = 0;
  std::vector<std::byte> value;
  fg::problem why = fg::problem::none;
  std::string reason;
};

class task;

// Brings messages to tasks. Those of a channel stay in order.
class network {
 public:
  explicit network(unsigned seed = 1) : random_(seed) {}
  ~network() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }
  void post(task& to, message m) {
    const std::lock_guard lock(mutex_);
    under_way_.push_back({&to, std::move(m)});
    changed_.notify_all();
  }
  // Nothing is under way any more.
  void settle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_.empty() && !bringing_; });
  }

 private:
  using letter = std::pair<task*, message>;

  inline void bring();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<letter> under_way_;
  bool closed_ = false, bringing_ = false;
  std::mt19937 random_;
  std::jthread thread_{[this] { bring(); }};
};

// One task of two: its engine is given this. The network outlives it.
class task final : public fg::detail::rendezvous_source {
 public:
  explicit task(network& n) : network_(n) {}
  ~task() override { network_.settle(); }
  static void connect(task& a, task& b) { a.other_ = &b, b.other_ = &a; }

  inline std::unique_ptr<fg::detail::rendezvous> make(const fg::plan_view& part) override;
  // Steps that have begun here, or for which something has come.
  std::size_t steps_known() {
    const std::lock_guard lock(mutex_);
    return begun_.size() + early_.size();
  }

 private:
  friend class network;
  friend class way_end;

  inline void take(message m);

  network& network_;
  task* other_ = nullptr;
  std::mutex mutex_;  // of all its ends, too
  std::map<std::uint64_t, class way_end*> begun_;
  std::map<std::uint64_t, std::vector<message>> early_;
  std::set<std::uint64_t> over_;
};

class way_end final : public fg::detail::rendezvous {
 public:
  way_end(task& t, const fg::plan_view& part) : task_(t) {
    for (const fg::channel& c : part.channels)
      ways_.push_back({fg::detail::is_elsewhere(c) ? fg::detail::depth_of(part, c) : 0});
  }
  ~way_end() override { end_step(); }

  std::unique_ptr<fg::detail::attempt> sender(int channel) override {
    return std::make_unique<sending>(*this, channel);
  }
  std::unique_ptr<fg::detail::attempt> receiver(int channel) override {
    return std::make_unique<receiving>(*this, channel);
  }

  void begin(const fg::detail::rendezvous_step& s) override {
    end_step();
    std::vector<waiter*> nobody;
    const std::lock_guard lock(task_.mutex_);
    landings_ = s.landings;
    step_ = s.number;
    ended_.clear();
    for (way& w : ways_) w = {w.depth};
    task_.begun_[step_] = this;
    if (const auto early = task_.early_.extract(step_)) {
      for (message& m : early.mapped()) take(m, nobody);
    }
  }
  void abort(fg::problem why, std::string_view reason) noexcept override {
    std::vector<waiter*> all;
    {
      const std::lock_guard lock(task_.mutex_);
      if (!begun()) return;
      if (!give_up(why, reason, all)) return;
      task_.network_.post(*task_.other_, {message::kind::abort, step_, 0, {}, why, std::string(reason)});
    }
    for (waiter* const w : all) w->wake();
  }
  void end() noexcept override { end_step(); }

 private:
  friend class task;

  struct way {
    int depth = 0;
    std::int64_t sent = 0, credit = 0, arrived = 0, received = 0;
    waiter *sender = nullptr, *receiver = nullptr;
  };

  class sending final : public fg::detail::attempt {
   public:
    sending(way_end& e, int channel) : end_(e), channel_(channel) {}
    bool begin(const fg::kernel_args&, waiter& w) override {
      const std::lock_guard lock(end_.task_.mutex_);
      way& x = end_.at(channel_);
      if (x.sent - x.credit < x.depth || end_.ended_.known()) return true;
      x.sender = &w;
      return false;
    }
    bool cancel() noexcept override { return end_.forget(end_.at(channel_).sender); }
    void finish(const fg::kernel_args& k) override {
      const std::lock_guard lock(end_.task_.mutex_);
      if (end_.ended_.known()) end_.ended_.refuse();
      message m{message::kind::value, end_.step_, channel_, {}, {}, {}};
      if (k.n_in > 0) {
        const auto* const from = k.in[0].as<const std::byte>();
        m.value.assign(from, from + k.in[0].size() * fg::size_of(k.in[0].type));
      }
      ++end_.at(channel_).sent;
      end_.task_.network_.post(*end_.task_.other_, std::move(m));
    }

   private:
    way_end& end_;
    int channel_;
  };
  class receiving final : public fg::detail::attempt {
   public:
    receiving(way_end& e, int channel) : end_(e), channel_(channel) {}
    bool begin(const fg::kernel_args&, waiter& w) override {
      const std::lock_guard lock(end_.task_.mutex_);
      way& x = end_.at(channel_);
      if (x.arrived > x.received || end_.ended_.known()) return true;
      x.receiver = &w;
      return false;
    }
    bool cancel() noexcept override { return end_.forget(end_.at(channel_).receiver); }
    void finish(const fg::kernel_args& k) override {
      const std::lock_guard lock(end_.task_.mutex_);
      if (end_.ended_.known()) end_.ended_.refuse();
      way& x = end_.at(channel_);
      const std::int64_t turn = x.received++;
      if (const fg::array_view& at = end_.landings_[static_cast<std::size_t>(channel_)]; at.type != fg::dtype::none) {
        const std::byte* const from = fg::detail::place_of(at, turn % x.depth);
        const std::int64_t bytes = at.size() * fg::size_of(at.type);
        if (from != k.out[0].data && bytes > 0) std::memcpy(k.out[0].data, from, static_cast<std::size_t>(bytes));
      }
      end_.task_.network_.post(*end_.task_.other_, {message::kind::received, end_.step_, channel_, {}, {}, {}});
    }

   private:
    way_end& end_;
    int channel_;
  };

  way& at(int channel) { return ways_[static_cast<std::size_t>(channel)]; }
  bool begun() const {
    const auto x = task_.begun_.find(step_);
    return x != task_.begun_.end() && x->second == this;
  }
  bool forget(waiter*& w) noexcept {
    const std::lock_guard lock(task_.mutex_);
    return std::exchange(w, nullptr) != nullptr;
  }
  bool give_up(fg::problem why, std::string_view reason, std::vector<waiter*>& all) {
    if (!ended_.set(why, reason)) return false;
    for (way& w : ways_)
      for (waiter** const x : {&w.sender, &w.receiver})
        if (waiter* const y = std::exchange(*x, nullptr)) all.push_back(y);
    return true;
  }
  void take(message& m, std::vector<waiter*>& woken) {
    way& w = at(m.channel);
    waiter** who = nullptr;
    switch (m.is) {
      case message::kind::value:
        if (const fg::array_view& to = landings_[static_cast<std::size_t>(m.channel)];
            to.type != fg::dtype::none && !m.value.empty())
          std::memcpy(fg::detail::place_of(to, w.arrived % w.depth), m.value.data(), m.value.size());
        ++w.arrived;
        who = &w.receiver;
        break;
      case message::kind::received:
        ++w.credit;
        who = &w.sender;
        break;
      case message::kind::abort:
        give_up(m.why, m.reason, woken);
        return;
    }
    if (waiter* const x = std::exchange(*who, nullptr)) woken.push_back(x);
  }
  void end_step() noexcept {
    const std::lock_guard lock(task_.mutex_);
    if (!begun()) return;
    task_.begun_.erase(step_);
    task_.over_.insert(step_);
  }

  task& task_;
  std::uint64_t step_ = 0;
  std::span<const fg::array_view> landings_;
  fg::detail::abort_reason ended_;
  std::vector<way> ways_;
};

inline std::unique_ptr<fg::detail::rendezvous> task::make(const fg::plan_view& part) {
  return std::make_unique<way_end>(*this, part);
}
inline void task::take(message m) {
  std::vector<waiter*> woken;
  {
    const std::lock_guard lock(mutex_);
    if (const auto e = begun_.find(m.step); e != begun_.end())
      e->second->take(m, woken);
    else if (!over_.contains(m.step))
      early_[m.step].push_back(std::move(m));
  }
  for (waiter* const w : woken) w->wake();
}
inline void network::bring() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || !under_way_.empty(); });
    if (under_way_.empty()) return;
    const auto like = [](const letter& x, const letter& y) {
      return x.first == y.first && std::tie(x.second.is, x.second.step, x.second.channel) ==
                                       std::tie(y.second.is, y.second.step, y.second.channel);
    };
    const auto any = under_way_.begin() + static_cast<std::ptrdiff_t>(random_() % under_way_.size());
    const auto first = std::find_if(under_way_.begin(), any, [&](const letter& x) { return like(x, *any); });
    letter l = std::move(*first);
    under_way_.erase(first);
    bringing_ = true;
    const bool rests = random_() % 16 == 0;
    lock.unlock();
    if (rests) std::this_thread::yield();
    l.first->take(std::move(l.second));
    lock.lock();
    bringing_ = false;
    changed_.notify_all();
  }
}

}  // namespace wire
