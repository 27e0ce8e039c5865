// Runs one instruction of a step, with what the step's company wants of it: limits, locks, times, a look at its result.
// Says which instruction it was when something fails.
#pragma once
#include <exception>
#include <string>
#include <thread>

#include <flowgraph/engine/report/instruction_text.hpp>
#include <flowgraph/engine/report/timing.hpp>
#include <flowgraph/engine/workspace.hpp>

namespace flowgraph::detail {

// Whom a step answers to beside its caller; null where there is nobody.
struct step_company {
  waiting_room* room = nullptr;  // instructions lock the variables they use; null: the step has them, or nobody locks
  const step_limits* within = nullptr;
  timing* times = nullptr;        // one for each instruction
  variable_hold* held = nullptr;  // the variables that the step has; it lets them go while all of it waits
  check_option check_numerics = {};
};

template <class Tag = void>
class basic_instruction_runner {
 public:
  basic_instruction_runner(const plan_view& p, const graph_view& g, workspace& w, const step_company& c)
      : plan(p),
        graph(g),
        memory(w),
        company(c),
        accompanied(c.room != nullptr || c.within != nullptr || c.times != nullptr || c.check_numerics) {}

  void run(int i) const {
    if (accompanied)
      run_accompanied(i);
    else
      memory.call(i)();
  }
  void run_accompanied(int i) const {
    if (company.within != nullptr) company.within->check();
    if (company.room == nullptr) return run_timed(i);
    const variable_hold hold(*company.room, memory.used_by(i), company.within);
    run_timed(i);
  }

  // What a resource or another device does. False: it has to wait, and w is woken.
  bool begin(int i, attempt& what, waiter& w) const {
    if (company.within != nullptr) company.within->check();
    begin_time(i);
    bool done = false;
    if (company.room == nullptr) {
      done = what.begin(memory.call(i).args, w);
    } else {
      const variable_hold hold(*company.room, memory.used_by(i), company.within);
      done = what.begin(memory.call(i).args, w);
    }
    if (!done) return false;
    what.finish(memory.call(i).args);
    end_time(i);
    return true;
  }
  // Of what was woken.
  void finish(int i, attempt& what) const {
    if (company.times != nullptr) {
      const timing::clock::time_point asked = company.times[i].begin;
      begin_time(i);
      company.times[i].waited += company.times[i].begin - asked;
    }
    what.finish(memory.call(i).args);
    end_time(i);
  }

  // Does the loop that f tests go on?
  bool goes_on(int i, const flow& f) const {
    return memory.turns_of(f.loop) != f.most_turns && *memory.call(i).args.in[0].template as<const bool>();
  }

  // Throws what is being handled, with the node that failed, what it worked on, and which line of the user's made it.
  [[noreturn]] void explain(int i) const {
    const instruction& x = plan.instructions[i];
    std::string message = label_of(graph, x.node) + " (" + ops_text(plan, x);
    const array_view* views = memory.operand(x.operands);
    for (int k = 0; k < x.n_operands; ++k) message += (k == 0 ? " of " : ", ") + type_text(views[k]);
    message += ", " + line_text(graph, x.node) + "): ";
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

  const plan_view& plan;
  const graph_view& graph;
  workspace& memory;
  const step_company company;
  const bool accompanied;

 private:
  void run_timed(int i) const {
    begin_time(i);
    run_checked(i);
    end_time(i);
  }
  void begin_time(int i) const {
    if (company.times == nullptr) return;
    company.times[i].thread = std::this_thread::get_id();
    company.times[i].begin = timing::clock::now();
  }
  void end_time(int i) const {
    if (company.times == nullptr) return;
    timing& t = company.times[i];
    t.end = timing::clock::now();
    t.spent += t.end - t.begin;
    ++t.calls;
  }
  void run_checked(int i) const {
    if (!company.check_numerics) return memory.call(i)();
    company.check_numerics.run()(plan, plan.instructions[i], memory.operand(0), memory.call(i));
  }
};
using instruction_runner = basic_instruction_runner<>;

}  // namespace flowgraph::detail
