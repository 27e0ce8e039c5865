// An event loop on a clock that stands still while anything is to be done, and jumps to the next timer when nothing is:
// what takes minutes on a network takes milliseconds, and happens in the same order each time. Of one thread, the
// caller's.
#pragma once
#include <deque>
#include <utility>

#include "event_loop.hpp"

namespace flowgraph::detail {

class virtual_loop final : public event_loop {
 public:
  net_time now() const override { return now_; }
  void post(work w) override { posted_.push_back(std::move(w)); }
  timer_id at(net_time when, work w) override { return timers_.add(when, std::move(w)); }
  void cancel(timer_id id) override { timers_.remove(id); }
  bool here() const override { return true; }  // nobody else is there

  // Does the next thing, if there is one up to that time.
  bool run_one(net_time until) {
    work next;
    if (!posted_.empty()) {
      next = std::move(posted_.front());
      posted_.pop_front();
    } else if (!timers_.empty() && timers_.first() <= until) {
      if (timers_.first() > now_) now_ = timers_.first();
      next = timers_.take_due(now_);
    } else {
      return false;
    }
    next();
    return true;
  }
  // Everything up to that time, which it is then.
  void run_until(net_time until) {
    while (run_one(until)) {
    }
    if (until > now_) now_ = until;
  }

 private:
  net_time now_{};
  std::deque<work> posted_;
  timer_list timers_;
};

}  // namespace flowgraph::detail
