// Walks a plan: in its order where one thread is faster, by readiness on the thread pool where there is work for many.
// Both run the same kernels on the same values, so both give the same numbers, bit for bit.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#define EIGEN_USE_THREADS
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "workspace.hpp"

namespace flowgraph::detail {

// One step on its way.
class step_run {
 public:
  step_run(const executable& e, const graph_view& g, workspace& w, const kernel_context& c)
      : executable_(e),
        plan_(e.plan()),
        graph_(g),
        workspace_(w),
        context_(c) {}

  void serially() {
    for (int i = 0; i < plan_.instructions.size(); ++i) execute(i);
  }

  void on(Eigen::ThreadPool& pool) {
    const int n = plan_.instructions.size();
    if (n == 0) return;
    pool_ = &pool;
    unfinished_ = n;
    for (int i = 0; i < n; ++i)
      workspace_.pending[static_cast<std::size_t>(i)].store(plan_.instructions[i].predecessors,
                                                            std::memory_order_relaxed);
    for (int i = 0; i < n; ++i)
      if (plan_.instructions[i].predecessors == 0) schedule(i);
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void execute(int i) const {
    kernel_args k = workspace_.arguments(i);
    k.context = &context_;
    const code& c = executable_.code_of(i);
    try {
      if (prepared_kernel* p = workspace_.prepared(i))
        p->run(k);
      else if (c.program >= 0)
        run_program(executable_.program(c.program), k);
      else
        c.kernel(k);
    } catch (...) {
      explain(i);
    }
  }

  // Says which node failed, on what, and which line of the user's made it.
  [[noreturn]] void explain(int i) const {
    const instruction& x = plan_.instructions[i];
    std::string message = label_of(graph_, x.node) + " (" + ops_text(x);
    const array_view* views = workspace_.operand(x.operands);
    for (int k = 0; k < x.n_operands; ++k) message += (k == 0 ? " of " : ", ") + type_text(views[k]);
    message += ", " + line_text(graph_, x.node) + "): ";
    try {
      throw;
    } catch (const error& e) {
      std::throw_with_nested(execution_error(e.why(), message + e.what()));
    } catch (const std::exception& e) {
      std::throw_with_nested(execution_error(problem::kernel_failed, message + e.what()));
    } catch (...) {
      std::throw_with_nested(execution_error(problem::kernel_failed, message + "an unknown exception"));
    }
  }
  std::string ops_text(const instruction& x) const {
    if (x.program == 0) return std::string(x.op->name);
    std::string text;
    for (const program_step& s : plan_.steps_of(plan_.programs[x.program]))
      text += (text.empty() ? "" : "+") + std::string(s.op->name);
    return text;
  }

  void schedule(int i) {
    pool_->Schedule([this, i] { run_chain(i); });
  }

  // One instruction, then one that it made ready, and so on; the others that become ready go to the pool. After a
  // failure the rest is counted down without being run.
  void run_chain(int i) {
    while (i >= 0) {
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
        if (next >= 0) schedule(next);
        next = s;
      }
      i = next;
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        // Under the lock, so that the waiting thread can't end this object before the notification is over.
        const std::lock_guard lock(mutex_);
        done_ = true;
        finished_.notify_one();
        return;
      }
    }
  }

  const executable& executable_;
  plan_view plan_;
  graph_view graph_;
  workspace& workspace_;
  kernel_context context_;
  Eigen::ThreadPool* pool_ = nullptr;
  std::atomic<int> unfinished_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr failure_;
};

}  // namespace flowgraph::detail
