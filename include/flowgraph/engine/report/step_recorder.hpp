// Keeps what the last steps of a session did, in the words of session/profile.hpp. Apart from the engine, which only
// hands over times.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/report/instruction_text.hpp>
#include <flowgraph/session/profile.hpp>
#include <flowgraph/session/reports.hpp>
#include "times_of_steps.hpp"

namespace flowgraph::detail {

// float[32, 64], float[64, 10] -> float[32, 10]
template <class Tag = void>
std::string shapes_text(const instruction& x, const array_view* operands) {
  std::string text;
  for (int k = 0; k < x.n_operands + x.n_outputs; ++k) {
    if (k == x.n_operands) text += text.empty() ? "-> " : " -> ";
    if (k != 0 && k != x.n_operands) text += ", ";
    text += type_text(operands[x.operands + k]);
  }
  return text;
}

template <class Tag = void>
class basic_step_recorder final : public times_of_steps {
 public:
  // keep: of how many last steps.
  explicit basic_step_recorder(int keep) : keep_(static_cast<std::size_t>(keep)) {}

  void add(const plan_view& plan, const graph_view& g, const workspace& w, const list<timing>& times,
           timing::clock::time_point begin) override {
    const auto since = [](timing::clock::time_point from, timing::clock::time_point to) {
      return nanoseconds(to - from);
    };
    step_profile p{w.context().step, since(begin, timing::clock::now()), {}, since(made_, begin), 0};
    list<std::thread::id> ran_on;
    for (int i = 0; i < plan.instructions.size(); ++i) {
      const instruction& x = plan.instructions[i];
      const timing& t = times[static_cast<std::size_t>(i)];
      if (t.end == timing::clock::time_point()) continue;  // of a branch that was not taken
      ran_on.push_back(t.thread);
      std::int64_t bytes = 0;
      for (int k = 0; k < x.n_operands + x.n_outputs; ++k) {
        const array_view& v = *w.operand(x.operands + k);
        bytes += v.size() * size_of(v.type);
      }
      p.instructions.push_back({label_of(g, x.node), ops_text(plan, x), line_text(g, x.node),
                                std::string(provider_of(w, i)), since(begin, t.begin), since(begin, t.end), 0, bytes,
                                work_of(plan, x, w.operand(0)), shapes_text(x, w.operand(0)),
                                std::string(plan.text(plan.devices[x.device])), x.node, t.calls, nanoseconds(t.spent),
                                nanoseconds(t.waited)});
    }
    const std::lock_guard lock(mutex_);
    p.thread = number_of(std::this_thread::get_id());
    for (std::size_t i = 0; i < ran_on.size(); ++i) p.instructions[i].thread = number_of(ran_on[i]);
    steps_.push_back(std::move(p));
    if (steps_.size() > keep_) steps_.pop_front();
  }

  std::vector<step_profile> last() const override {
    const std::lock_guard lock(mutex_);
    return {steps_.begin(), steps_.end()};
  }

 private:
  static std::int64_t nanoseconds(timing::clock::duration d) {
    return static_cast<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
  }
  int number_of(std::thread::id thread) {
    const auto at = std::find(threads_.begin(), threads_.end(), thread);
    if (at != threads_.end()) return static_cast<int>(at - threads_.begin());
    threads_.push_back(thread);
    return static_cast<int>(threads_.size()) - 1;
  }

  std::size_t keep_;
  timing::clock::time_point made_ = timing::clock::now();
  mutable std::mutex mutex_;
  list<std::thread::id> threads_;
  std::deque<step_profile> steps_;
};
using step_recorder = basic_step_recorder<>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_CODE times_of_steps* make_times_of_steps(int keep) { return new step_recorder(keep); }

}  // namespace FLOWGRAPH_HALF

}  // namespace flowgraph::detail
