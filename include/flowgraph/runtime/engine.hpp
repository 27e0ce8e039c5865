// What both kinds of session are made of: options, state, the thread pool, and how a step runs. Steps may run at the
// same time on one session. A step that changes variables has the state to itself; steps that only read share it. So
// a read sees whole values, and updates of one variable come one after another. A user's function that is called by a
// step must not run a step of the same session: it would wait for itself.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include <flowgraph/kernels/providers.hpp>
#include "executor.hpp"
#include "pool_workers.hpp"

namespace flowgraph {

struct session_options {
  // Steps run on up to this many threads.
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  // Decides the first values of variables and every random number.
  std::uint64_t seed = 0;
  // Steps of fewer elementary operations run on the calling thread: waking another one would take longer.
  std::int64_t serial_below = 1'000'000;
  // Whose kernels compute: the library's own, which are Eigen's, or another library's.
  flowgraph::kernels kernels = flowgraph::kernels::automatic;
};

namespace detail {

// A plan and the workspaces of its steps.
struct prepared_step {
  template <class Resolve>
  prepared_step(const plan_view& plan, const graph_view& g, const Resolve& resolve) : program(plan, g, resolve) {}

  executable program;
  workspace_pool workspaces;
};

class engine {
 public:
  explicit engine(const session_options& o) : options_(o), provider_(choose_provider(o.kernels)) {
    if (o.threads < 1)
      throw argument_error(problem::session_threads,
                           fmt::format("session: threads must be at least 1, got {}", o.threads));
  }

  const session_options& options() const { return options_; }

  void add_variables(const graph_view& g) {
    const std::unique_lock lock(state_);
    variables_.add_new(g, options_.seed);
  }
  void initialize(const graph_view& g, std::uint64_t seed) {
    const std::unique_lock lock(state_);
    options_.seed = seed;
    steps_ = 0;
    variables_.initialize(g, seed);
  }

  // take(i, view) is called for each fetch that has a value, before anybody can change it.
  template <class Take>
  void run(prepared_step& s, const graph_view& g, const borrowed* feeds, const Take& take) {
    std::unique_lock writing(state_, std::defer_lock);
    std::shared_lock reading(state_, std::defer_lock);
    if (s.program.writes_state())
      writing.lock();
    else
      reading.lock();
    const workspace_pool::lease lease = s.workspaces.take(s.program, variables_, provider_, options_.threads);
    workspace& w = *lease;
    w.bind(g, feeds);
    const bool alone = options_.threads == 1 || w.work() < options_.serial_below;
    const kernel_context context{options_.seed, steps_.fetch_add(1), alone ? nullptr : &helpers()};
    step_run step(s.program, g, w, context);
    if (alone)
      step.serially();
    else
      step.on(*pool_);
    for (int i = 0; i < s.program.plan().fetches.size(); ++i)
      if (s.program.plan().fetches[i].where != storage::none) take(i, w.fetch(i));
  }

  // f(variable_state) with the state held for reading.
  template <class F>
  void read(int node, const F& f) {
    const std::shared_lock lock(state_);
    f(static_cast<const variable_state&>(variables_.of_node(node)));
  }
  template <class F>
  void write(int node, const F& f) {
    const std::unique_lock lock(state_);
    f(variables_.of_node(node));
  }

 private:
  workers& helpers() {
    std::call_once(pool_made_, [this] {
      pool_ = std::make_unique<Eigen::ThreadPool>(options_.threads);
      helpers_ = std::make_unique<pool_workers>(*pool_, options_.threads);
    });
    return *helpers_;
  }

  session_options options_;
  variable_store variables_;
  std::shared_mutex state_;
  std::atomic<std::uint64_t> steps_{0};
  std::once_flag pool_made_;
  std::unique_ptr<Eigen::ThreadPool> pool_;
  std::unique_ptr<pool_workers> helpers_;
  const kernel_provider* provider_;
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

}  // namespace detail
}  // namespace flowgraph
