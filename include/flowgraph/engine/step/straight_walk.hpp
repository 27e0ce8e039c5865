// Walks instructions in their order on one thread: a whole plan in which nothing waits, and the closed loops and
// choices of any plan. What most steps are, and the quickest way through them.
#pragma once
#include <flowgraph/engine/step/instruction_runner.hpp>

namespace flowgraph::detail {

template <class Tag = void>
class basic_straight_walk {
 public:
  basic_straight_walk(const instruction_runner& r, const flow_table& flows) : runner_(r), flows_(flows) {}

  // The whole plan.
  void run_all() const {
    const int n = runner_.plan.instructions.size();
    if (flows_.any()) return follow(0, n);
    int i = 0;
    try {
      if (runner_.accompanied)
        for (; i < n; ++i) runner_.run_accompanied(i);
      else
        for (; i < n; ++i) runner_.memory.call(i)();
    } catch (...) {
      runner_.explain(i);
    }
  }
  // One instruction, or all of a loop or a choice; what its entry copies has been copied.
  void run(int i) const {
    if (runner_.plan.instructions[i].n_regions > 0) return run_owner(i);
    try {
      runner_.run(i);
    } catch (...) {
      runner_.explain(i);
    }
  }

 private:
  void run_owner(int owner) const {
    const int entry = flows_.entry_of(owner);
    const flow& f = flows_[entry];
    if (f.is == flow::kind::choose) return follow(entry, owner);
    runner_.memory.begin_loop(f.loop, flows_.loop_around(entry));
    follow(entry + 1, owner);
  }

  // Instructions i to last - 1, as control flow leads.
  void follow(int i, int last) const {
    try {
      while (i < last) {
        const flow& f = flows_[i];
        switch (f.is) {
          case flow::kind::onward:  // what is counted on before it is done would be blamed for the next one
            runner_.run(i);
            ++i;
            break;
          case flow::kind::begin:
            runner_.run(i);
            runner_.memory.begin_loop(f.loop, flows_.loop_around(i));
            ++i;
            break;
          case flow::kind::choose:
            i = runner_.plan.regions[flows_.chosen(i, runner_.memory.call(i).args.in[0])].first;
            break;
          case flow::kind::test:
            i = runner_.goes_on(i, f) ? i + 1 : f.to;
            break;
          case flow::kind::again:
            runner_.run(i);
            runner_.memory.next_turn(f.loop);
            i = f.to;
            break;
          case flow::kind::join:
            runner_.run(i);
            i = f.to;
            break;
        }
      }
    } catch (...) {
      runner_.explain(i);
    }
  }

  const instruction_runner& runner_;
  const flow_table& flows_;
};
using straight_walk = basic_straight_walk<>;

}  // namespace flowgraph::detail
