// Walks a plan: in its order where one thread is faster, by readiness on several threads where there is work for many.
// Both run the same kernels on the same values, so both give the same numbers, bit for bit.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <flowgraph/engine/report/instruction_text.hpp>
#include <flowgraph/engine/report/timing.hpp>
#include <flowgraph/engine/threads/pool_workers.hpp>
#include <flowgraph/engine/workspace.hpp>

namespace flowgraph::detail {

// Whom a step answers to beside its caller; null where there is nobody.
struct step_company {
  waiting_room* room = nullptr;  // instructions lock the variables they use; null: the step has them, or nobody locks
  const step_limits* within = nullptr;
  timing* times = nullptr;        // one for each instruction
  variable_hold* held = nullptr;  // the variables that the step has; it lets them go while it waits for another step
  check_option check_numerics = {};
};

// One step on its way through its plan.
template <class Tag = void>
class basic_executor {
 public:
  basic_executor(const executable& e, const graph_view& g, workspace& w, const step_company& c)
      : plan_(e.plan()),
        flows_(e.flows()),
        graph_(g),
        workspace_(w),
        company_(c),
        accompanied_(c.room != nullptr || c.within != nullptr || c.times != nullptr || c.check_numerics) {}

  // Runs the step. crew: for one that runs by readiness, else null. False: it has to wait for another step, and who
  // calls w->wake() lets it go on here. No instruction runs meanwhile, and all before it in the plan are done.
  bool go_on(pool_workers* crew, waiter* w) {
    if (waiting_) end_wait();
    for (;;) {
      if (crew == nullptr)
        at_ = serially(at_);
      else
        at_ = on(*crew, at_);
      if (at_ == plan_.instructions.size()) return true;
      if (!try_attempt(*w)) return false;
    }
  }
  // What it waits for, while it does.
  attempt& awaited() const { return *workspace_.attempt_of(at_); }
  // The attempt was cancelled: the step ends with this when it goes on.
  void interrupt(std::exception_ptr why) { interrupted_ = std::move(why); }

 private:
  // The instruction at_. False: it has to wait.
  bool try_attempt(waiter& w) {
    try {
      if (company_.within != nullptr) company_.within->check();
      begin_time(at_);
      if (company_.room == nullptr) {
        waiting_ = !awaited().begin(workspace_.call(at_).args, w);
      } else {
        const variable_hold hold(*company_.room, workspace_.used_by(at_), company_.within);
        waiting_ = !awaited().begin(workspace_.call(at_).args, w);
      }
      if (!waiting_) finish_attempt();
    } catch (...) {
      explain(at_);
    }
    if (waiting_ && company_.held != nullptr) company_.held->release();
    return !waiting_;
  }
  void end_wait() {
    waiting_ = false;
    try {
      if (interrupted_) std::rethrow_exception(interrupted_);
      if (company_.held != nullptr) company_.held->take(company_.within);
      finish_attempt();
    } catch (...) {
      explain(at_);
    }
  }
  void finish_attempt() {
    awaited().finish(workspace_.call(at_).args);
    end_time(at_);
    for (const int s : plan_.next(plan_.instructions[at_]))
      workspace_.pending[static_cast<std::size_t>(s)].fetch_sub(1, std::memory_order_relaxed);
    ++at_;
  }

  // From instruction i to the end, or to one that may have to wait.
  int serially(int i) {
    if (flows_.any()) return follow(i, plan_.instructions.size());
    const int last = workspace_.next_attempt(i);
    try {
      if (accompanied_)
        for (; i < last; ++i) run_accompanied(i);
      else
        for (; i < last; ++i) workspace_.call(i)();
    } catch (...) {
      explain(i);
    }
    return last;
  }

  // The same by readiness. Waiting is no part of a loop or a choice: such a step runs serially.
  int on(pool_workers& crew, int first) {
    const int last = workspace_.next_attempt(first);
    if (first == 0)
      for (int i = 0; i < plan_.instructions.size(); ++i) {
        workspace_.pending[static_cast<std::size_t>(i)].store(plan_.instructions[i].predecessors,
                                                              std::memory_order_relaxed);
        workspace_.ready[static_cast<std::size_t>(i)].store(-1, std::memory_order_relaxed);
      }
    if (first == last) return last;
    crew_ = &crew;
    int units = 0;
    last_ = last;
    for (int i = first; i < last; ++i) {
      if (plan_.instructions[i].region != 0) continue;
      ++units;
      if (workspace_.pending[static_cast<std::size_t>(i)].load(std::memory_order_relaxed) == 0) push(i);
    }
    unfinished_ = units;
    crew.open(gang_, end_.load(std::memory_order_relaxed) - first_.load(std::memory_order_relaxed) - 1);
    while (unfinished_.load() > 0) {
      run_ready();
      crew.idle([this] { return unfinished_.load() == 0 || first_.load() < end_.load(); });
    }
    crew.close(gang_);
    if (failure_) std::rethrow_exception(failure_);
    return last;
  }

  // Instructions i to last - 1, as control flow leads, or to one that may have to wait.
  int follow(int i, int last) {
    try {
      while (i < last) {
        const flow& f = flows_[i];
        switch (f.is) {
          case flow::kind::onward:  // what is counted on before it is done would be blamed for the next one
            run(i);
            ++i;
            break;
          case flow::kind::begin:
            run(i);
            ++i;
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
          case flow::kind::wait:
            return i;
        }
      }
    } catch (...) {
      explain(i);
    }
    return last;
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
    if (flows_[entry].is == flow::kind::choose) return void(follow(entry, owner));
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
    begin_time(i);
    run_checked(i);
    end_time(i);
  }
  void begin_time(int i) const {
    if (company_.times == nullptr) return;
    company_.times[i].thread = std::this_thread::get_id();
    company_.times[i].begin = timing::clock::now();
  }
  void end_time(int i) const {
    if (company_.times == nullptr) return;
    timing& t = company_.times[i];
    t.end = timing::clock::now();
    t.spent += t.end - t.begin;
    ++t.calls;
  }
  void run_checked(int i) const {
    if (!company_.check_numerics) return workspace_.call(i)();
    company_.check_numerics.run()(plan_, plan_.instructions[i], workspace_.operand(0), workspace_.call(i));
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
    } catch (const closed_error& e) {
      throw closed_error(e.why(), message + e.what());
    } catch (const end_of_input& e) {
      throw end_of_input(e.why(), message + e.what());
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
      if (s >= last_) continue;  // behind an instruction that may wait
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
  int at_ = 0;            // the next instruction, while none runs
  bool waiting_ = false;  // for another step, at this instruction
  std::exception_ptr interrupted_;
  pool_workers* crew_ = nullptr;
  int last_ = 0;  // how far instructions may run by readiness
  pool_workers::gang gang_{[](void* step) { static_cast<basic_executor*>(step)->run_ready(); }, this};
  std::atomic<int> first_{0}, end_{0};
  std::atomic<int> unfinished_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
};
using executor = basic_executor<>;

}  // namespace flowgraph::detail
