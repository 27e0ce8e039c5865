// How the engine does it: engine.hpp has its declarations. Apart, because it is all that a session needs and that no
// model changes: in a program that is linked with flowgraph::compiled it is compiled there (compiled/engine.cpp) and
// not in each file with a session.
#pragma once
#include "engine.hpp"

#ifndef FLOWGRAPH_ENGINE  // empty there
#define FLOWGRAPH_ENGINE inline
#endif

namespace flowgraph::detail {

FLOWGRAPH_ENGINE prepared_step::prepared_step(const plan_view& plan, const graph_view& g, const kernel_source& kernels)
    : program(plan, g, kernels) {}
FLOWGRAPH_ENGINE prepared_step::~prepared_step() = default;

FLOWGRAPH_ENGINE engine::engine(const session_options& o, const kernel_provider* provider)
    : options_(o),
      provider_(provider),
      resources_(o.resources),
      seed_(o.seed),
      recorder_(o.profile) {
  if (o.threads < 1)
    throw argument_error(problem::session_threads,
                         fmt::format("session: threads must be at least 1, got {}", o.threads));
  if (o.pool != nullptr) options_.threads = std::min(o.threads, o.pool->NumThreads() + 1);
}
FLOWGRAPH_ENGINE engine::~engine() = default;

FLOWGRAPH_ENGINE void engine::add_state(const graph_view& g) {
  variables_.add_new(g, seed_);
  resources_.add_new(g, seed_);
}

FLOWGRAPH_ENGINE void engine::initialize(const graph_view& g, std::uint64_t seed) {
  write_all(random_position{seed, 0},
            [&](std::span<const variable_access> all) { variable_store::begin_again(g, all, seed); });
}

FLOWGRAPH_ENGINE void engine::end_async() { crew_.reset(); }

FLOWGRAPH_ENGINE std::string engine::plan_text(prepared_step& s, const graph_view& g, const borrowed* const* feeds) {
  const workspace_lease w(s.workspaces, take_workspace(s));
  w->bind(g, feeds);
  const plan_view& p = s.program.plan();
  std::string text;
  for (int i = 0; i < p.instructions.size(); ++i) {
    const instruction& x = p.instructions[i];
    text += fmt::format("{}: {} {}", i, label_of(g, x.node), ops_text(p, x));
    for (int k = 0; k < x.n_outputs; ++k)
      text += (k == 0 ? " -> " : ", ") + type_text(*w->operand(x.operands + x.n_operands + k));
    text += fmt::format(" by {}\n", provider_of(*w, i));
  }
  return text;
}

FLOWGRAPH_ENGINE engine::flight::flight(engine& e, prepared_step& s, const graph_view& g, const borrowed* const* feeds,
                                        const limits* l)
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

FLOWGRAPH_ENGINE engine::flight::~flight() = default;

FLOWGRAPH_ENGINE bool engine::flight::go_on(waiter* w) {
  if (!started_) start();
  const bool done = run_->go_on(workspace_->how() == walk::ready ? engine_.helpers_.get() : nullptr, w);
  if (done && !times_.empty()) engine_.recorder_.add(plan_, graph_, *workspace_, times_, begin_);
  return done;
}

FLOWGRAPH_ENGINE void engine::flight::wait_here() {
  try {
    thread_waiter::mine().wait_for(run_->awaited(), within());
  } catch (...) {
    run_->interrupt(std::current_exception());
  }
}

FLOWGRAPH_ENGINE void engine::flight::start() {
  hold_.take(within());
  engine_.set_context(*workspace_, within());
  started_ = true;
  if (!times_.empty()) begin_ = timing::clock::now();
}

FLOWGRAPH_ENGINE std::vector<step_profile> engine::profile() const { return recorder_.last(); }

FLOWGRAPH_ENGINE workspace& engine::take_workspace(prepared_step& s) {
  return s.workspaces.take(
      [&] { return std::make_unique<workspace>(s.program, variables_, resources_, provider_, options_); });
}

FLOWGRAPH_ENGINE void engine::set_context(workspace& w, const step_limits* within) {
  w.set_context({seed_.load(std::memory_order_relaxed), steps_.fetch_add(1, std::memory_order_relaxed),
                 w.how() == walk::alone ? nullptr : &helpers(), within});
}

FLOWGRAPH_ENGINE async_crew& engine::crew() {
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

FLOWGRAPH_ENGINE workers& engine::helpers() {
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

// Copies borrowed data into a variable; throws feed_error where it does not fit.
FLOWGRAPH_ENGINE void assign_variable(const graph_view& g, variable_state& v, const borrowed& b) {
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

#undef FLOWGRAPH_ENGINE
