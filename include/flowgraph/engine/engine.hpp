// What both kinds of session are made of: state, threads, and how a step runs. Steps may run at the same time on one
// session, each in a workspace of its own; what they see of each other's updates is the session's update_policy. A
// user's function that is called by a step must not run a step of the same session: it might wait for itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/engine/step/async_step.hpp>
#include <flowgraph/engine/step/executor.hpp>
#include <flowgraph/kernels/providers.hpp>
#include "workspace_pool.hpp"

namespace flowgraph::detail {

// A plan and the workspaces of its steps.
struct prepared_step {
  prepared_step(const plan_view& plan, const graph_view& g, const kernel_source& kernels);
  ~prepared_step();

  executable program;
  workspace_pool workspaces;
};

// A workspace, until the values of the step have been read.
class workspace_lease {
 public:
  workspace_lease(workspace_pool& pool, workspace& w) : pool_(pool), workspace_(w) {}
  workspace_lease(const workspace_lease&) = delete;
  workspace_lease& operator=(const workspace_lease&) = delete;
  ~workspace_lease() {
    workspace_.leave();
    pool_.give(workspace_);
  }
  workspace& operator*() const { return workspace_; }
  workspace* operator->() const { return &workspace_; }

 private:
  workspace_pool& pool_;
  workspace& workspace_;
};

struct session_access;  // session_access.hpp

// All that random numbers depend on beside the node that draws them.
struct random_position {
  std::uint64_t seed, steps;
};

class engine {
 public:
  // provider: of kernels beside the library's own; null: none. Chosen by who makes the session, who may have been built
  // with another one than the library's archive.
  explicit engine(const session_options& o) : engine(o, choose_provider(o.kernels)) {}
  engine(const session_options& o, const kernel_provider* provider);
  ~engine();

  const session_options& options() const { return options_; }

  // What the graph declares and the session has not: a graph may grow between steps.
  void add_state(const graph_view& g);
  void initialize(const graph_view& g, std::uint64_t seed);

  // Runs a step, and gives what collect(workspace) makes of its values before anybody can change them. feeds: in the
  // plan's order.
  template <class Collect>
  auto run(prepared_step& s, const graph_view& g, const borrowed* const* feeds, const limits* l,
           const Collect& collect) {
    flight f(*this, s, g, feeds, l);
    while (!f.go_on(f.may_wait() ? &thread_waiter::mine() : nullptr)) f.wait_here();
    return collect(f.values());
  }
  // The same without a thread of the caller's. The prepared step outlives end_async().
  template <class Collect>
  auto run_async(prepared_step& s, const graph_view& g, const borrowed* const* feeds, const limits* l,
                 const Collect& collect) {
    using value = decltype(collect(std::declval<const values_of&>()));
    auto step = std::make_unique<async_flight<flight, value, Collect>>(
        crew(), g, feeds, s.program.plan().feeds.size(), l, collect,
        [&](std::optional<flight>& to, const graph_view& view, const borrowed* const* kept, const limits* within) {
          to.emplace(*this, s, view, kept, within);
        });
    auto result = step->future();
    crew().enter();
    crew().line.add(*step.release());
    return result;
  }
  // When no step is begun any more: those that wait end, and all are over when this returns.
  void end_async();

  // How a step with these feeds runs: each instruction with its node, its op, what it gives, and whose kernel computes.
  std::string plan_text(prepared_step& s, const graph_view& g, const borrowed* const* feeds);

  // The values of a step that is done. Those that are variables are locked while they are read, unless the step holds
  // them.
  class values_of {
   public:
    values_of(workspace& w, waiting_room* room) : workspace_(w), room_(room) {}
    std::size_t size() const { return workspace_.values(); }
    // Who may help to read them; null: nobody.
    workers* helpers() const { return workspace_.context().helpers; }
    // The k-th value with its memory, to be kept: null where it has to be copied.
    aligned_buffer<std::byte> give(std::size_t k) const { return workspace_.give(k); }
    const array_view& view(std::size_t k) const { return workspace_.value(k); }
    // f(array_view) for the k-th value.
    template <class F>
    auto read(std::size_t k, const F& f) const {
      if (room_ == nullptr) return f(workspace_.value(k));
      const variable_hold hold(*room_, workspace_.used_by_value(k));
      return f(workspace_.value(k));
    }

   private:
    workspace& workspace_;
    waiting_room* room_;
  };

  // One step, from its feeds until its values have been read.
  class flight {
   public:
    // Throws feed_error. The graph's view, the feeds and the limits outlive it.
    flight(engine& e, prepared_step& s, const graph_view& g, const borrowed* const* feeds, const limits* l);
    ~flight();

    bool may_wait() const { return workspace_->next_attempt(0) < plan_.instructions.size(); }
    // False: it has to wait for another step, which calls w->wake(); then it is called again.
    bool go_on(waiter* w);
    // On the calling thread, whose waiter it has.
    void wait_here();
    step_run& step() { return *run_; }
    const step_limits* within() const { return within_ ? &*within_ : nullptr; }
    values_of values() const { return {*workspace_, room_}; }

   private:
    static constexpr std::span<const variable_access> nothing_held{};

    void start();

    engine& engine_;
    const graph_view& graph_;
    const plan_view& plan_;
    const workspace_lease workspace_;
    waiting_room* room_;
    variable_hold hold_;
    std::optional<step_limits> within_;
    std::vector<timing> times_;  // one for each instruction, where they are taken
    timing::clock::time_point begin_;
    std::optional<step_run> run_;
    bool started_ = false;
  };

  // The queue, mutex or barrier that a node declares.
  template <class Resource>
  std::shared_ptr<Resource> resource_of(int node) {
    return std::static_pointer_cast<Resource>(resources_.of_node(node));
  }

  // f(variable_state) while nobody changes it.
  template <class F>
  auto read(int node, const F& f) {
    return use({&variables_.of_node(node), false}, f);
  }
  // f(variable_state) while nobody else uses it.
  template <class F>
  void write(int node, const F& f) {
    use({&variables_.of_node(node), true}, f);
  }

  // f(all variables, random_position): one moment of the session, in which nobody changes a variable.
  template <class F>
  auto read_all(const F& f) {
    return variables_.with_all(false, [&](std::span<const variable_access> all) {
      return f(all, random_position{seed_, steps_});
    });
  }
  // f(all variables) while nobody else uses any of them. Random numbers go on from the position, if there is one; steps
  // without variables that run at the same time draw as before or as after.
  template <class F>
  void write_all(std::optional<random_position> p, const F& f) {
    variables_.with_all(true, [&](std::span<const variable_access> all) {
      f(all);
      if (!p) return;
      seed_ = p->seed;
      steps_ = p->steps;
    });
  }

  // The last steps, oldest first.
  std::vector<step_profile> profile() const;

 private:
  workspace& take_workspace(prepared_step& s);

  template <class F>
  auto use(const variable_access& a, const F& f) {
    const variable_hold hold(variables_.room, {&a, 1});
    return f(*a.variable);
  }

  void set_context(workspace& w, const step_limits* within);

  // Where callers have no thread to lend, as many as a step may have are made.
  async_crew& crew();

  workers& helpers();

  session_options options_;
  const kernel_provider* provider_;  // null: the library's own kernels alone
  variable_store variables_;
  resource_store resources_;
  std::atomic<std::uint64_t> seed_;
  std::atomic<std::uint64_t> steps_{0};
  std::once_flag helpers_made_;
  std::unique_ptr<Eigen::ThreadPool> pool_;
  std::unique_ptr<pool_workers> helpers_;  // after the pool: it ends first
  step_recorder recorder_;
  std::once_flag crew_made_;
  std::unique_ptr<Eigen::ThreadPool> async_pool_;
  std::unique_ptr<async_crew> crew_;
};

// Copies borrowed data into a variable; throws feed_error where it does not fit.
void assign_variable(const graph_view& g, variable_state& v, const borrowed& b);

}  // namespace flowgraph::detail

// In flowgraph::compiled where the program takes its kernels from there.
#ifndef FLOWGRAPH_COMPILED
#include "engine_code.hpp"
#endif
