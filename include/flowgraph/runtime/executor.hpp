// Walks a plan: in its order where one thread is faster, by readiness on several threads where there is work for many.
// Both run the same kernels on the same values, so both give the same numbers, bit for bit.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "pool_workers.hpp"
#include "step_recorder.hpp"
#include "workspace.hpp"

namespace flowgraph::detail {

// Whom a step answers to beside its caller; null where there is nobody.
struct step_company {
  waiting_room* room = nullptr;  // instructions lock the variables they use; null: the step has them, or nobody locks
  const step_limits* within = nullptr;
  timing* times = nullptr;  // one for each instruction
};

// One step on its way.
class step_run {
 public:
  step_run(const executable& e, const graph_view& g, workspace& w, const step_company& c)
      : plan_(e.plan()),
        flows_(e.flows()),
        graph_(g),
        workspace_(w),
        company_(c),
        accompanied_(c.room != nullptr || c.within != nullptr || c.times != nullptr) {}

  void serially() {
    const int n = plan_.instructions.size();
    if (flows_.any()) return follow(0, n);
    int i = 0;
    try {
      if (accompanied_)
        for (; i < n; ++i) run_accompanied(i);
      else
        for (; i < n; ++i) workspace_.call(i)();
    } catch (...) {
      explain(i);
    }
  }

  void on(pool_workers& crew) {
    const int n = plan_.instructions.size();
    if (n == 0) return;
    crew_ = &crew;
    int units = 0;
    for (int i = 0; i < n; ++i) {
      units += plan_.instructions[i].region == 0;
      workspace_.pending[static_cast<std::size_t>(i)].store(plan_.instructions[i].predecessors,
                                                            std::memory_order_relaxed);
      workspace_.ready[static_cast<std::size_t>(i)].store(-1, std::memory_order_relaxed);
    }
    unfinished_ = units;
    for (int i = 0; i < n; ++i)
      if (plan_.instructions[i].predecessors == 0 && plan_.instructions[i].region == 0) push(i);
    crew.open(gang_, end_.load(std::memory_order_relaxed) - 1);
    while (unfinished_.load() > 0) {
      run_ready();
      crew.idle([this] { return unfinished_.load() == 0 || first_.load() < end_.load(); });
    }
    crew.close(gang_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Instructions i to last - 1, as control flow leads.
  void follow(int i, int last) {
    try {
      while (i < last) {
        const flow& f = flows_[i];
        switch (f.is) {
          case flow::kind::onward:
            run(i++);
            break;
          case flow::kind::begin:
            run(i++);
            begin_loop(f.owner);
            break;
          case flow::kind::choose:
            i = flows_.chosen(i, workspace_.call(i).args.in[0]);
            break;
          case flow::kind::test:
            i = goes_on(i, f) ? i + 1 : f.to;
            break;
          case flow::kind::again:
            run(i);
            next_turn(f.owner);
            i = f.to;
            break;
          case flow::kind::join:
            run(i);
            i = f.to;
            break;
        }
      }
    } catch (...) {
      explain(i);
    }
  }
  void run(int i) const {
    if (accompanied_)
      run_accompanied(i);
    else
      workspace_.call(i)();
  }
  void begin_loop(int owner) {
    const int unit = flows_.unit_of(owner);
    loop_turn& t = workspace_.turn_of(owner);
    t = {0, workspace_.turn_in(unit)};
    workspace_.set_turn(unit, mix(t.around, 1));
  }
  bool goes_on(int i, const flow& f) {
    const loop_turn& t = workspace_.turn_of(f.owner);
    if (t.turns != f.most_turns && *workspace_.call(i).args.in[0].as<const bool>()) return true;
    workspace_.set_turn(flows_.unit_of(f.owner), t.around);
    return false;
  }
  void next_turn(int owner) {
    loop_turn& t = workspace_.turn_of(owner);
    workspace_.set_turn(flows_.unit_of(owner), mix(t.around, static_cast<std::uint64_t>(++t.turns) + 1));
  }
  // All of a loop or a choice; what its entry copies has been copied.
  void execute_unit(int owner) {
    const int entry = flows_.entry_of(owner);
    if (flows_[entry].is == flow::kind::choose) return follow(entry, owner);
    begin_loop(owner);
    follow(entry + 1, owner);
  }

  void execute(int i) {
    if (plan_.instructions[i].n_regions > 0) return execute_unit(i);
    try {
      run(i);
    } catch (...) {
      explain(i);
    }
  }
  void run_accompanied(int i) const {
    if (company_.within != nullptr) company_.within->check();
    if (company_.room == nullptr) return run_timed(i);
    const variable_hold hold(*company_.room, workspace_.used_by(i), company_.within);
    run_timed(i);
  }
  void run_timed(int i) const {
    if (company_.times == nullptr) return workspace_.call(i)();
    timing& t = company_.times[i];
    t.thread = std::this_thread::get_id();
    t.begin = timing::clock::now();
    workspace_.call(i)();
    t.end = timing::clock::now();
  }

  // Says which node failed, on what, and which line of the user's made it.
  [[noreturn]] void explain(int i) const {
    const instruction& x = plan_.instructions[i];
    std::string message = label_of(graph_, x.node) + " (" + ops_text(plan_, x);
    const array_view* views = workspace_.operand(x.operands);
    for (int k = 0; k < x.n_operands; ++k) message += (k == 0 ? " of " : ", ") + type_text(views[k]);
    message += ", " + line_text(graph_, x.node) + "): ";
    try {
      throw;
    } catch (const cancelled_error& e) {
      throw cancelled_error(e.why(), message + e.what());
    } catch (const deadline_error& e) {
      throw deadline_error(e.why(), message + e.what());
    } catch (const error& e) {
      std::throw_with_nested(execution_error(e.why(), message + e.what()));
    } catch (const std::exception& e) {
      std::throw_with_nested(execution_error(problem::kernel_failed, message + e.what()));
    } catch (...) {
      std::throw_with_nested(execution_error(problem::kernel_failed, message + "an unknown exception"));
    }
  }

  // Instructions that are ready form a queue, each in it once: [first_, end_) of workspace_.ready.
  void push(int i) { workspace_.ready[static_cast<std::size_t>(end_.fetch_add(1))].store(i); }
  // -1: there is none.
  int pop() {
    int at = first_.load();
    while (at < end_.load()) {
      if (!first_.compare_exchange_weak(at, at + 1)) continue;
      const std::atomic<int>& place = workspace_.ready[static_cast<std::size_t>(at)];
      int i = place.load();
      for (; i < 0; i = place.load()) std::this_thread::yield();  // whoever took the place is about to fill it
      return i;
    }
    return -1;
  }

  // One instruction, then one that it made ready, and so on; then whatever else is ready.
  void run_ready() {
    for (int i = pop(); i >= 0;) {
      i = run_one(i);
      if (i < 0) i = pop();
    }
  }
  // Gives one that it made ready; others go to the queue. After a failure the rest is counted down without being run.
  int run_one(int i) {
    if (!failed_.load(std::memory_order_relaxed)) {
      try {
        execute(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        failed_.store(true, std::memory_order_relaxed);
      }
    }
    int next = -1;
    for (const int s : plan_.next(plan_.instructions[i])) {
      // What a predecessor wrote is seen by who counts it down to 0.
      if (workspace_.pending[static_cast<std::size_t>(s)].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      if (next >= 0) {
        push(next);
        crew_->invite(gang_, 1);
      }
      next = s;
    }
    if (unfinished_.fetch_sub(1) == 1) crew_->news();
    return next;
  }

  const plan_view& plan_;
  const flow_table& flows_;
  const graph_view& graph_;
  workspace& workspace_;
  step_company company_;
  bool accompanied_;
  pool_workers* crew_ = nullptr;
  pool_workers::gang gang_{[](void* step) { static_cast<step_run*>(step)->run_ready(); }, this};
  std::atomic<int> first_{0}, end_{0};
  std::atomic<int> unfinished_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace flowgraph::detail
