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

#include <flowgraph/kernels/providers.hpp>
#include "async_step.hpp"
#include "executor.hpp"
#include "workspace_pool.hpp"

namespace flowgraph::detail {

// A plan and the workspaces of its steps.
struct prepared_step {
  template <class Resolve>
  prepared_step(const plan_view& plan, const graph_view& g, const Resolve& resolve) : program(plan, g, resolve) {}

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
  explicit engine(const session_options& o)
      : options_(o),
        provider_(choose_provider(o.kernels)),
        resources_(o.resources),
        seed_(o.seed),
        recorder_(o.profile) {
    if (o.threads < 1)
      throw argument_error(problem::session_threads,
                           fmt::format("session: threads must be at least 1, got {}", o.threads));
    if (o.pool != nullptr) options_.threads = std::min(o.threads, o.pool->NumThreads() + 1);
  }

  const session_options& options() const { return options_; }

  // What the graph declares and the session has not: a graph may grow between steps.
  void add_state(const graph_view& g) {
    variables_.add_new(g, seed_);
    resources_.add_new(g, seed_);
  }
  void initialize(const graph_view& g, std::uint64_t seed) {
    write_all(random_position{seed, 0},
              [&](std::span<const variable_access> all) { variable_store::begin_again(g, all, seed); });
  }

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
  void end_async() { crew_.reset(); }

  // How a step with these feeds runs: each instruction with its node, its op, what it gives, and whose kernel computes.
  std::string plan_text(prepared_step& s, const graph_view& g, const borrowed* const* feeds) {
    const workspace_lease w(s.workspaces, take_workspace(s));
    w->bind(g, feeds);
    const plan_view& p = s.program.plan();
    std::string text;
    for (int i = 0; i < p.instructions.size(); ++i) {
      const instruction& x = p.instructions[i];
      text += fmt::format("{}: {} {}", i, label_of(g, x.node), ops_text(p, x));
      for (int k = 0; k < x.n_outputs; ++k)
        text += (k == 0 ? " -> " : ", ") + type_text(*w->operand(x.operands + x.n_operands + k));
      text += fmt::format(" by {}\n", provider_of(*w, i, provider_));
    }
    return text;
  }

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
    flight(engine& e, prepared_step& s, const graph_view& g, const borrowed* const* feeds, const limits* l)
        : engine_(e),
          graph_(g),
          plan_(s.program.plan()),
          workspace_(s.workspaces, e.take_workspace(s)),
          room_(e.options_.updates == update_policy::overlapping ? &e.variables_.room : nullptr),
          hold_(e.variables_.room, e.options_.updates == update_policy::consistent ? workspace_->used() : nothing_held,
                std::defer_lock) {
      workspace_->bind(g, feeds);
      if (l != nullptr) within_.emplace(*l);
      if (e.recorder_.wanted()) times_.resize(static_cast<std::size_t>(plan_.instructions.size()));
      run_.emplace(
          s.program, g, *workspace_,
          step_company{room_, within(), times_.empty() ? nullptr : times_.data(), &hold_, e.options_.check_numerics});
    }

    bool may_wait() const { return workspace_->next_attempt(0) < plan_.instructions.size(); }
    // False: it has to wait for another step, which calls w->wake(); then it is called again.
    bool go_on(waiter* w) {
      if (!started_) start();
      const bool done = run_->go_on(workspace_->how() == walk::ready ? engine_.helpers_.get() : nullptr, w);
      if (done && !times_.empty()) engine_.recorder_.add(plan_, graph_, *workspace_, engine_.provider_, times_, begin_);
      return done;
    }
    // On the calling thread, whose waiter it has.
    void wait_here() {
      try {
        thread_waiter::mine().wait_for(run_->awaited(), within());
      } catch (...) {
        run_->interrupt(std::current_exception());
      }
    }
    step_run& step() { return *run_; }
    const step_limits* within() const { return within_ ? &*within_ : nullptr; }
    values_of values() const { return {*workspace_, room_}; }

   private:
    static constexpr std::span<const variable_access> nothing_held{};

    void start() {
      hold_.take(within());
      engine_.set_context(*workspace_, within());
      started_ = true;
      if (!times_.empty()) begin_ = timing::clock::now();
    }

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
  std::vector<step_profile> profile() const { return recorder_.last(); }

 private:
  workspace& take_workspace(prepared_step& s) {
    return s.workspaces.take(
        [&] { return std::make_unique<workspace>(s.program, variables_, resources_, provider_, options_); });
  }

  template <class F>
  auto use(const variable_access& a, const F& f) {
    const variable_hold hold(variables_.room, {&a, 1});
    return f(*a.variable);
  }

  void set_context(workspace& w, const step_limits* within) {
    w.set_context({seed_.load(std::memory_order_relaxed), steps_.fetch_add(1, std::memory_order_relaxed),
                   w.how() == walk::alone ? nullptr : &helpers(), within});
  }

  // Where callers have no thread to lend, as many as a step may have are made.
  async_crew& crew() {
    std::call_once(crew_made_, [this] {
      if (options_.schedule) {
        crew_ = std::make_unique<async_crew>(options_.schedule, options_.threads);
        return;
      }
      Eigen::ThreadPoolInterface* pool = options_.pool;
      if (pool == nullptr) {
        async_pool_ = std::make_unique<Eigen::ThreadPool>(options_.threads);
        pool = async_pool_.get();
      }
      crew_ = std::make_unique<async_crew>([pool](std::function<void()> task) { pool->Schedule(std::move(task)); },
                                           std::min(options_.threads, pool->NumThreads()));
    });
    return *crew_;
  }

  workers& helpers() {
    std::call_once(helpers_made_, [this] {
      if (options_.schedule) {
        helpers_ = std::make_unique<pool_workers>(options_.schedule, options_.threads);
      } else if (options_.pool != nullptr) {
        helpers_ = std::make_unique<pool_workers>(*options_.pool, options_.threads);
      } else {
        pool_ = std::make_unique<Eigen::ThreadPool>(options_.threads - 1);
        helpers_ = std::make_unique<pool_workers>(*pool_, options_.threads);
      }
    });
    return *helpers_;
  }

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
inline void assign_variable(const graph_view& g, variable_state& v, const borrowed& b) {
  bool fits = b.type == v.type && b.count == v.size;
  if (!b.flat) {
    fits = fits && b.rank == static_cast<int>(v.dims.size());
    for (int i = 0; fits && i < b.rank; ++i) fits = b.dims[i] == v.dims[static_cast<std::size_t>(i)];
  }
  if (!fits) {
    const std::string given =
        b.flat ? fmt::format("{} {} values", b.count, name_of(b.type)) : type_text(b.type, b.rank, b.dims);
    throw feed_error(b.type == v.type ? problem::feed_extents : problem::feed_dtype,
                     fmt::format("set {}: expected {}, got {}", label_of(g, v.node), type_text(g, v.node), given));
  }
  if (v.size > 0) std::memcpy(v.data.get(), b.data, v.bytes());
}

}  // namespace flowgraph::detail
