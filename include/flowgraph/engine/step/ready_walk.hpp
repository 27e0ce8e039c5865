// Runs instructions as they become ready: on several threads where there is work for many, and past what has to wait
// for another step or another device, be it within a loop. Any number of instructions may wait at once; whoever
// completes one, on whatever thread, makes it ready again and runs nothing itself.
//
// Counting. Of each instruction: how many of its region it still waits for. Of each open region: how many of its
// instructions are not done in this turn; the last one to be done ends the region, which begins the next region or
// turn, or makes the owner done. Of the step: how many instructions are ready or running. Where none is, and the step
// is not over, it is parked: it has no thread and no variables until something completes.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/step/straight_walk.hpp>
#include <flowgraph/engine/threads/crew.hpp>

namespace flowgraph::detail {

template <class Tag = void>
class basic_ready_walk {
 public:
  basic_ready_walk(const instruction_runner& r, const flow_table& flows)
      : runner_(r),
        flows_(flows),
        straight_(r, flows),
        memory_(r.memory) {}

  // helpers: null where the calling thread is alone, the same each time. False: all that is left waits; w->wake() is
  // called once when that has changed, and then this again. Throws why the step failed, when none of it is under way
  // any more.
  bool go_on(crew* helpers, waiter* w) {
    if (!begun_) begin(helpers);
    for (;;) {
      if (helpers == nullptr)
        run_ready();
      else
        run_with(*helpers);
      if (left_in(0).load(std::memory_order_acquire) == 0) break;
      if (park(w)) return false;
    }
    while (completing_.load(std::memory_order_acquire) > 0) std::this_thread::yield();  // it is about to leave this
    if (failure_) std::rethrow_exception(failure_);
    return true;
  }
  // A parked step ends with this, unless all it waits for is on its way. From any thread, while the step is there.
  void interrupt(problem why) noexcept {
    for (const auto& x : memory_.all_awaited()) {
      if (!x->armed.load() || !x->what->cancel()) continue;
      x->armed.store(false);
      try {
        step_limits::refuse(why);
      } catch (...) {
        fail(x->instruction);
      }
      return complete(*x);  // until then the step is not over
    }
  }
  bool failed() const { return failed_.load(); }
  // What is being handled is why the step can not go on with what it waited for.
  void fail_resumed() noexcept { fail(resumed_); }

 private:
  // Of something that waited, by who completes it: it can go on. The step may be over before this returns, but for what
  // completing_ guards.
  void complete(awaited& p) noexcept {
    waiter* parked = nullptr;
    completing_.fetch_add(1);
    p.armed.store(false);
    p.resumes = true;
    const int i = p.instruction;
    {
      const std::lock_guard lock(mutex_);
      active_.fetch_add(1);
      parked = std::exchange(parked_, nullptr);
      if (parked != nullptr) resumed_ = i;
      memory_.ring().push(i);
    }
    if (parked == nullptr && helpers_ != nullptr) helpers_->invite(gang_, 1);
    completing_.fetch_sub(1, std::memory_order_release);
    if (parked != nullptr) parked->wake();
  }

  void begin(crew* helpers) {
    begun_ = true;
    for (const auto& p : memory_.all_awaited())
      p->begin_step(this, [](void* walk, awaited& x) { static_cast<basic_ready_walk*>(walk)->complete(x); });
    int next = -1;
    begin_region(0, next);
    if (next >= 0) add(next);
    helpers_ = helpers;  // helpers are asked for when all that is ready is known
  }
  // Nothing is ready and nothing runs on the step's threads: unless a device is at work for it, the step lets its
  // variables go. False: by now something is.
  bool park(waiter* w) {
    bool lets_go = false;
    {
      const std::lock_guard lock(mutex_);
      if (active_.load() > 0) return false;
      parked_ = w;
      lets_go = runner_.company.held != nullptr && !any_busy();
    }
    if (lets_go) runner_.company.held->release();
    return true;
  }
  bool any_busy() const {
    for (const auto& p : memory_.all_awaited())
      if (p->what->busy()) return true;
    return false;
  }

  void run_with(crew& helpers) {
    helpers.open(gang_, static_cast<int>(memory_.ring().size()) - 1);
    while (active_.load() > 0) {
      run_ready();
      helpers.idle([this] { return active_.load() == 0 || memory_.ring().size() > 0; });
    }
    helpers.close(gang_);
  }
  // One instruction, then one that it made ready, and so on; then whatever else is ready.
  void run_ready() {
    for (int i = memory_.ring().pop(); i >= 0;) {
      i = run_one(i);
      if (i < 0) i = memory_.ring().pop();
    }
  }
  // Gives one that it made ready; others go to the ring. After a failure the rest is counted down without being run.
  int run_one(int i) {
    bool done = true;
    int next = -1;
    if (!failed_.load(std::memory_order_relaxed)) {
      try {
        done = execute(i, next);
      } catch (...) {
        fail_with(std::current_exception());
      }
    }
    if (done) next = count(i, next);
    if (next < 0 && active_.fetch_sub(1) == 1 && helpers_ != nullptr) helpers_->news();
    return next;
  }
  // False: it is under way, and is counted when it is done. next: an instruction that it made ready, if any.
  bool execute(int i, int& next) {
    if (awaited* const p = memory_.awaited_of(i); p != nullptr) return execute(*p);
    if (runner_.plan.instructions[i].n_regions == 0 || !flows_.is_open(i)) {
      straight_.run(i);
      return true;
    }
    const flow& f = flows_[flows_.entry_of(i)];
    int r = runner_.plan.instructions[i].first_region;
    try {
      if (f.is == flow::kind::begin)
        memory_.begin_loop(f.loop, flows_.loop_around(flows_.entry_of(i)));
      else
        r = flows_.chosen(flows_.entry_of(i), memory_.call(flows_.entry_of(i)).args.in[0]);
    } catch (...) {
      runner_.explain(i);
    }
    return !begin_region(r, next) && follow_on(r, next);
  }
  bool execute(awaited& p) {
    try {
      if (std::exchange(p.resumes, false)) {
        runner_.finish(p.instruction, *p.what);
        return true;
      }
      p.armed.store(true);
      if (runner_.begin(p.instruction, *p.what, p)) {
        p.armed.store(false);
        return true;
      }
    } catch (...) {
      p.armed.store(false);
      runner_.explain(p.instruction);
    }
    // Who fails afterwards finds it armed; who has failed before may have looked too early.
    if (failed_.load() && p.what->cancel()) complete(p);
    return false;
  }

  // Instruction i is done.
  int count(int i, int next) {
    for (;;) {
      const instruction& x = runner_.plan.instructions[i];
      for (const int s : runner_.plan.next(x))
        // What a predecessor wrote is seen by who counts it down to 0.
        if (memory_.waits_for(s).fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(s, next);
      if (left_in(x.region).fetch_sub(1, std::memory_order_acq_rel) != 1 || x.region == 0) return next;
      const int region = x.region;
      i = runner_.plan.regions[region].owner;
      if (!follow_on(region, next)) return next;
    }
  }
  void make_ready(int i, int& next) {
    if (next >= 0) {
      add(next);
      if (helpers_ != nullptr) helpers_->invite(gang_, 1);
    }
    next = i;
  }
  void add(int i) {
    active_.fetch_add(1);
    memory_.ring().push(i);
  }

  // True: it has begun. False: there is nothing in it.
  bool begin_region(int r, int& next) {
    const list<int>& members = flows_.members(r);
    left_in(r).store(static_cast<int>(members.size()), std::memory_order_relaxed);
    for (const int i : members)
      memory_.waits_for(i).store(runner_.plan.instructions[i].predecessors, std::memory_order_relaxed);
    if (r != 0)  // it ends the region when all others are done, whomever it reads
      memory_.waits_for(flows_.last_of(r)).store(static_cast<int>(members.size()) + 1, std::memory_order_relaxed);
    if (members.empty()) return false;
    for (const int i : members)
      if (runner_.plan.instructions[i].predecessors == 0) make_ready(i, next);
    return true;
  }
  // All of a region is done. True: so is its owner. False: another region, or another turn, has begun.
  bool follow_on(int r, int& next) {
    const int owner = runner_.plan.regions[r].owner, first = runner_.plan.instructions[owner].first_region;
    for (;;) {
      const int last = flows_.last_of(r);
      const flow& f = flows_[last];
      if (failed_.load(std::memory_order_relaxed)) return true;
      try {
        if (f.is == flow::kind::test) {
          if (runner_.company.within != nullptr) runner_.company.within->check();
          if (!runner_.goes_on(last, f)) return true;
          r = first + 1;
        } else {
          runner_.run(last);
          if (f.is == flow::kind::join) return true;
          memory_.next_turn(f.loop);
          r = first;
        }
      } catch (...) {
        fail(last);
        return true;
      }
      if (begin_region(r, next)) return false;
    }
  }

  // What is being handled is why instruction i failed.
  void fail(int i) noexcept {
    try {
      runner_.explain(i);
    } catch (...) {
      fail_with(std::current_exception());
    }
  }
  // The first failure is the step's, here and at its peers. All that waits is given up: it is counted like the rest.
  void fail_with(std::exception_ptr why) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = why;
      failed_.store(true);
    }
    if (memory_.has_peers()) tell_peers(why);
    for (const auto& p : memory_.all_awaited())
      if (p->armed.load() && p->what->cancel()) complete(*p);
  }
  void tell_peers(const std::exception_ptr& why) noexcept {
    try {
      std::rethrow_exception(why);
    } catch (const error& e) {
      memory_.abort(e.why(), e.what());
    } catch (...) {
      memory_.abort(problem::kernel_failed, sentence(problem::kernel_failed));
    }
  }

  std::atomic<int>& left_in(int region) { return memory_.left_in(region); }

  const instruction_runner& runner_;
  const flow_table& flows_;
  straight_walk straight_;
  workspace& memory_;
  crew* helpers_ = nullptr;
  bool begun_ = false;
  crew::gang gang_{[](void* walk) { static_cast<basic_ready_walk*>(walk)->run_ready(); }, this};
  std::atomic<std::int64_t> active_{0};  // instructions that are ready or running
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  waiter* parked_ = nullptr;  // who is woken when something completes
  int resumed_ = 0;           // what completed then
  std::atomic<int> completing_{0};
  std::exception_ptr failure_;
};
using ready_walk = basic_ready_walk<>;

}  // namespace flowgraph::detail
