// Where links live: one thing after another, on one thread, and timers. Apart from the network, so that the same links
// run on sockets (asio_loop.hpp), on a thread without any (thread_loop.hpp), and on a clock that a test turns
// (virtual_loop.hpp).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace flowgraph::detail {

using net_clock = std::chrono::steady_clock;
using net_time = net_clock::time_point;
using timer_id = std::uint64_t;  // 0: none

class event_loop {
 public:
  using work = std::function<void()>;

  virtual ~event_loop() = default;

  virtual net_time now() const = 0;
  // From any thread. Work is done in the order in which it was posted.
  virtual void post(work) = 0;
  virtual timer_id at(net_time, work) = 0;
  // A timer that is just going off goes off.
  virtual void cancel(timer_id) = 0;
  // Is this the loop's own thread, in one of its calls?
  virtual bool here() const = 0;
};

// The timers of a loop, by time and then by age. Its loop guards it.
class timer_list {
 public:
  timer_id add(net_time when, event_loop::work w) {
    by_time_.emplace(std::pair(when, ++last_), std::move(w));
    times_.emplace(last_, when);
    return last_;
  }
  void remove(timer_id id) {
    const auto found = times_.find(id);
    if (found == times_.end()) return;
    by_time_.erase({found->second, id});
    times_.erase(found);
  }
  bool empty() const { return by_time_.empty(); }
  net_time first() const { return by_time_.begin()->first.first; }
  // Of those that are due, the first; empty: none is.
  event_loop::work take_due(net_time now) {
    if (by_time_.empty() || first() > now) return {};
    const auto due = by_time_.begin();
    event_loop::work w = std::move(due->second);
    times_.erase(due->first.second);
    by_time_.erase(due);
    return w;
  }

 private:
  std::map<std::pair<net_time, timer_id>, event_loop::work> by_time_;
  std::map<timer_id, net_time> times_;
  timer_id last_ = 0;
};

}  // namespace flowgraph::detail
