// What both kinds of session are made of: state, threads, and how a step runs. Steps may run at the same time on one
// session, each in a workspace of its own; what they see of each other's updates is the session's update_policy. A
// user's function that is called by a step must not run a step of the same session: it might wait for itself.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/report/times_of_steps.hpp>
#include <flowgraph/engine/step/executor.hpp>
#include <flowgraph/engine/threads/async_steps.hpp>
#include <flowgraph/session/engine_api.hpp>
#include "choose_provider.hpp"
#include "devices.hpp"
#include "plan_shelf.hpp"
#include "prepared_step.hpp"
#include "step_table.hpp"

namespace flowgraph::detail {

template <class Tag>
class basic_engine {
 public:
  // any_graph: it runs graphs that are gone before it. elsewhere: where parts of plans meet those of other tasks; null:
  // it runs whole plans. devices: null: there are CPUs alone. Throws argument_error.
  basic_engine(const session_options& o, const provider_choice& providers, resource_finder find, bool any_graph,
               std::shared_ptr<rendezvous_source> elsewhere = nullptr, std::shared_ptr<device_source> devices = nullptr)
      : any_graph_(any_graph),
        options_(o),
        provider_(choose_provider(o.kernels, providers)),
        shared_(o.variables != nullptr ? o.variables : std::make_shared<flowgraph::variables>()),
        variables_(shared_->table(), any_graph || o.variables != nullptr),
        resources_(o.resources, find),
        elsewhere_(std::move(elsewhere)),
        device_source_(std::move(devices)),
        seed_(o.seed),
        recorder_(o.profile.make()) {
    if (o.threads < 1)
      throw argument_error(problem::session_threads,
                           text_from({"session: threads must be at least 1, got ", o.threads}));
    if (o.pool) options_.threads = std::min(o.threads, o.pool.threads() + 1);
    devices_ = device_views(options_.devices);
    require_device_list(device_slice(devices_));
    if (devices_.empty()) devices_.assign(local_device_list.begin(), local_device_list.end());
    variables_.table.enter(takes_locks());
  }
  // Steps that wait end, and all are over while their plans are there.
  ~basic_engine() {
    if (async_steps_ != nullptr) async_steps_->end([this] { crew_->work_along(); });
    crew_ = nullptr;
    variables_.table.leave(takes_locks());
  }

  const session_options& options() const { return options_; }

  void add_state(const graph_view& g) {
    variables_.add_new(g, seed_);
    resources_.add_new(g, seed_);
  }
  void initialize(const graph_view& g, std::uint64_t seed) {
    write_all(random_position{seed, 0},
              [&](std::span<const declared_variable> all) { variable_store::begin_again(g, all, seed); });
  }

  // A plan is known by the address of its tables.
  prepared_step& prepare(const planned_step& s) {
    return steps_
        .find(
            reinterpret_cast<std::uintptr_t>(&s) / 64, [&s](const known_step& k) { return k.planned == &s; },
            [&] {
              return owner<known_step>(new known_step{&s, {s.plan, s.graph, s.kernels, device_source_.get()}});
            })
        .step;
  }
  // The same for a signature of a graph that was built when the program ran; make() plans it. Of the engine's own graph
  // the step lives as long as the engine; of any other, as long as somebody has the pointer.
  template <class Make>
  std::shared_ptr<prepared_step> prepare(const graph_view& g, slice<int> fetches, slice<int> feeds,
                                         kernel_finder library, const Make& make) {
    if (any_graph_) return from_shelf(g, fetches, feeds, library, make);
    std::uint64_t hash = 0;
    for (const int f : fetches) hash = mix(hash, static_cast<std::uint64_t>(f));
    for (const int f : feeds) hash = mix(hash, ~static_cast<std::uint64_t>(f));
    const known_plan& known = planned_.find(
        hash, [&](const known_plan& s) { return s.is_for(fetches, feeds); },
        [&] {
          auto made = make_owner<known_plan>();
          made->fetches.assign(fetches.begin(), fetches.end());
          made->feeds.assign(feeds.begin(), feeds.end());
          if (options_.variables != nullptr) {
            made->step = from_shelf(g, fetches, feeds, library, make);
          } else {
            std::shared_ptr<planned_now> own(make().release());
            add_state(g);
            made->step = {own, own->step.get()};
          }
          return made;
        });
    return {std::shared_ptr<void>(), known.step.get()};
  }
  // Of plans that are made for it; null: CPUs alone.
  device_source* devices_beside_cpus() const { return device_source_.get(); }
  slice<std::string_view> devices() const { return device_slice(devices_); }

  // Runs a step; collect(values) comes before anybody can change them. feeds: in the plan's order.
  void run(prepared_step& s, const graph_view& g, const step_request& r,
           const callback<void(const step_values&)>& collect) {
    const at_work here;
    running_step f(*this, s, g, r);
    while (!f.go_on(s.program.flows().waits() ? &thread_waiter::mine() : nullptr)) f.wait_here();
    collect(f.values());
  }

  // The values of a step that is done. Those that are variables are locked while they are read, unless the step holds
  // them.
  class values_of final : public step_values {
   public:
    values_of(workspace& w, waiting_room* room) : workspace_(w), room_(room) {}
    std::size_t size() const override { return workspace_.values(); }
    const array_view& view(std::size_t k) const override { return workspace_.value(k); }
    void* give(std::size_t k) const override { return workspace_.give(k).release(); }
    void copy(std::size_t k, void* to) const override {
      if (room_ == nullptr) return copy_unlocked(workspace_.value(k), to);
      const variable_hold hold(*room_, workspace_.used_by_value(k));
      copy_unlocked(workspace_.value(k), to);
    }

   private:
    void copy_unlocked(const array_view& v, void* to) const {
      const std::int64_t each = size_of(v.type), n = v.size();
      const kernel_context context{.helpers = workspace_.context().helpers};
      kernel_args k;
      k.context = &context;
      parallel_for(k, n, part_work, [&](std::int64_t first, std::int64_t last) {
        std::memcpy(static_cast<std::byte*>(to) + first * each, v.as<const std::byte>() + first * each,
                    static_cast<std::size_t>((last - first) * each));
      });
    }

    workspace& workspace_;
    waiting_room* room_;
  };

  // One step, from its feeds until its values have been read.
  class running_step {
   public:
    // Throws feed_error. The graph's view and what the request points to outlive it.
    running_step(basic_engine& e, prepared_step& s, const graph_view& g, const step_request& r)
        : engine_(e),
          graph_(g),
          at_(r.at),
          plan_(s.program.plan()),
          workspace_(s.workspaces, e.take_workspace(s)),
          room_(e.options_.updates == update_policy::overlapping ? &e.variables_.room : nullptr),
          hold_(e.variables_.room, e.options_.updates == update_policy::consistent ? workspace_->used() : nothing_held,
                std::defer_lock) {
      workspace_->bind(g, r.feeds);
      if (r.within != nullptr) within_.emplace(*r.within);
      if (e.recorder_ != nullptr) times_.resize(static_cast<std::size_t>(plan_.instructions.size()));
      executor_.emplace(
          s.program, g, *workspace_,
          step_company{room_, within(), times_.empty() ? nullptr : times_.data(), &hold_, e.options_.check_numerics});
    }

    // False: it has to wait for another step, which calls w->wake(); then it is called again.
    bool go_on(waiter* w) {
      if (!started_ && !start(w)) return false;
      const bool done = executor_->go_on(workspace_->how() == walk::ready ? engine_.crew_.get() : nullptr, w);
      if (done && !times_.empty()) engine_.recorder_->add(plan_, graph_, *workspace_, times_, begin_);
      return done;
    }
    // On the calling thread, whose waiter it has.
    void wait_here() {
      at_work::pause();
      ending e{*executor_, within()};
      thread_waiter::mine().wait_for(e, within());
    }
    // What ends the wait before its time. True: the step is to go on now.
    bool interrupt(problem why) noexcept { return executor_->interrupt(why); }
    const step_limits* within() const { return within_ ? &*within_ : nullptr; }
    values_of values() const { return {*workspace_, room_}; }

   private:
    static constexpr std::span<const variable_access> nothing_held{};

    struct ending {
      executor& of;
      const step_limits* within;
      bool cancel() noexcept { return of.interrupt(within->reached()); }
    };

    bool start(waiter* w) {
      if (w == nullptr)
        hold_.take(within());
      else if (!executor_->take_variables(*w))
        return false;
      engine_.set_context(*workspace_, within(), at_);
      started_ = true;
      if (!times_.empty()) begin_ = timing::clock::now();
      return true;
    }

    basic_engine& engine_;
    const graph_view& graph_;
    const random_position* at_;
    const plan_view& plan_;
    const workspace_lease workspace_;
    waiting_room* room_;
    variable_hold hold_;
    std::optional<step_limits> within_;
    list<timing> times_;  // one for each instruction, where they are taken
    timing::clock::time_point begin_;
    std::optional<executor> executor_;
    bool started_ = false;
  };

  std::string plan_text(prepared_step& s, const graph_view& g, const borrowed* const* feeds) {
    const workspace_lease w(s.workspaces, take_workspace(s));
    w->bind(g, feeds);
    const plan_view& p = s.program.plan();
    std::string text;
    for (int i = 0; i < p.instructions.size(); ++i) {
      const instruction& x = p.instructions[i];
      text += text_from({i, ": ", label_of(g, x.node), " ", ops_text(p, x)});
      for (int k = 0; k < x.n_outputs; ++k)
        text += (k == 0 ? " -> " : ", ") + type_text(*w->operand(x.operands + x.n_operands + k));
      text += text_from({" by ", provider_of(*w, i), "\n"});
    }
    return text;
  }

  // The queue, mutex or barrier that a node declares.
  std::shared_ptr<resource> resource_of(const graph_view& g, int node) {
    return any_graph_ ? resources_.of_other_graph(g, node, seed_) : resources_.of_node(node);
  }

  // f(variable_state) while nobody changes it.
  template <class F>
  auto read(const graph_view& g, int node, const F& f) {
    return use({&variable_of(g, node), false}, f);
  }
  // f(variable_state) while nobody else uses it.
  template <class F>
  void write(const graph_view& g, int node, const F& f) {
    use({&variable_of(g, node), true}, f);
  }
  // Where it runs any graph, what is read from a file may come before the graph that declares it.
  bool runs_any_graph() const { return any_graph_; }
  void bring(std::string_view name, dtype type, std::span<const std::int64_t> dims) {
    variables_.table.bring(name, type, dims);
  }

  // f(all variables, random_position): one moment of the session, in which nobody changes a variable.
  template <class F>
  auto read_all(const F& f) {
    return with_all(false, [&](std::span<const declared_variable> all) {
      return f(all, random_position{seed_, steps_taken_});
    });
  }
  // f(all variables) while nobody else uses any of them. Random numbers go on from the position, if there is one; steps
  // without variables that run at the same time draw as before or as after.
  template <class F>
  void write_all(std::optional<random_position> p, const F& f) {
    with_all(true, [&](std::span<const declared_variable> all) {
      f(all);
      if (!p) return;
      seed_ = p->seed;
      steps_taken_ = p->steps;
    });
  }

  // The last steps, oldest first.
  std::vector<step_profile> profile() const {
    return recorder_ == nullptr ? std::vector<step_profile>() : recorder_->last();
  }

  // Made when a step needs it, as its threads are.
  crew& threads() {
    std::call_once(crew_made_, [this] {
      crew_ = make_owner<crew>(options_.schedule ? options_.schedule : options_.pool, options_.threads);
    });
    return *crew_;
  }
  async_steps& without_callers() {
    std::call_once(async_made_, [this] { async_steps_ = make_owner<async_steps>(); });
    return *async_steps_;
  }

 private:
  struct known_step {
    const planned_step* planned;
    prepared_step step;
  };
  struct known_plan {
    list<int> fetches, feeds;
    std::shared_ptr<prepared_step> step;

    bool is_for(slice<int> wanted_fetches, slice<int> wanted_feeds) const {
      return same_nodes(fetches, wanted_fetches) && same_nodes(feeds, wanted_feeds);
    }
  };

  bool takes_locks() const { return options_.updates != update_policy::lock_free; }

  workspace& take_workspace(prepared_step& s) {
    return s.workspaces.take([&] {
      return s.options == nullptr
                 ? make_owner<workspace>(s.program, variables_, resources_, provider_, options_, elsewhere_.get())
                 : make_owner<workspace>(s.program, *s.variables, *s.resources, provider_, *s.options);
    });
  }

  // A plan that was made for a graph of equal structure, or is made now and kept.
  template <class Make>
  std::shared_ptr<prepared_step> from_shelf(const graph_view& g, slice<int> fetches, slice<int> feeds,
                                            kernel_finder library, const Make& make) {
    const bool waits =
        std::any_of(g.nodes.begin(), g.nodes.end(), [](const node& n) { return n.op->is(trait::waits); });
    std::shared_ptr<flowgraph::resources> shared = waits ? resources_.common() : nullptr;
    plan_terms terms{provider_,
                     library,
                     options_.threads,
                     options_.serial_below,
                     options_.inter_op,
                     options_.updates,
                     options_.check_numerics.run(),
                     options_.passes,
                     options_.devices,
                     shared.get(),
                     device_source_.get()};
    const std::uint64_t hash = fingerprint(g, fetches, feeds);
    const std::shared_ptr<plan_shelf> shelf = variables_.table.shelf();
    std::shared_ptr<shelved_plan> p = shelf->find(hash, g, fetches, feeds, terms);
    if (p == nullptr) {
      p = std::make_shared<shelved_plan>(std::move(terms), options_, variables_.table, std::move(shared),
                                         resources_.finder());
      p->made = make();
      p->variables.add_new(g, seed_);
      p->resources.add_new(g, seed_);
      prepared_step& s = *p->made->step;
      s.variables = &p->variables;
      s.resources = &p->resources;
      s.options = &p->options;
      if (shelf->wants(hash, options_.plans)) {
        p->remember(hash, g, fetches, feeds);
        shelf->add(p, options_.plans);
      }
    }
    prepared_step* const step = p->made->step.get();
    return {std::move(p), step};
  }

  variable_state& variable_of(const graph_view& g, int node) {
    return any_graph_ ? variables_.of_other_graph(g, node, seed_) : variables_.of_node(node);
  }
  template <class F>
  auto with_all(bool writes, const F& f) {
    return any_graph_ ? variables_.with_table(writes, f) : variables_.with_all(writes, f);
  }

  template <class F>
  auto use(const variable_access& a, const F& f) {
    const variable_hold hold(variables_.room, {&a, 1});
    return f(*a.variable);
  }

  void set_context(workspace& w, const step_limits* within, const random_position* at) {
    workers* const helpers = w.how() == walk::alone ? nullptr : &threads();
    if (at != nullptr)
      w.set_context({at->seed, at->steps, helpers, within});
    else
      w.set_context({seed_.load(std::memory_order_relaxed), steps_taken_.fetch_add(1, std::memory_order_relaxed),
                     helpers, within});
  }

  const bool any_graph_;
  session_options options_;
  list<std::string_view> devices_;                // views of the options', or the one that there is
  const kernel_provider* provider_;               // null: the library's own kernels alone
  std::shared_ptr<flowgraph::variables> shared_;  // or its own
  variable_store variables_;
  resource_store resources_;
  const std::shared_ptr<rendezvous_source> elsewhere_;
  const std::shared_ptr<device_source> device_source_;
  std::atomic<std::uint64_t> seed_;
  std::atomic<std::uint64_t> steps_taken_{0};
  owner<times_of_steps> recorder_;  // null: nobody wants them
  std::once_flag crew_made_, async_made_;
  step_table<known_step> steps_;
  step_table<known_plan> planned_;
  owner<async_steps> async_steps_;
  owner<crew> crew_;  // last: its threads use the others
};

// Copies borrowed data into a variable; throws feed_error where it does not fit.
template <class Tag = void>
void assign_variable(const std::string& label, variable_state& v, const borrowed& b) {
  bool fits = b.type == v.type && b.count == v.size;
  if (!b.flat) {
    fits = fits && b.rank == static_cast<int>(v.dims.size());
    for (int i = 0; fits && i < b.rank; ++i) fits = b.dims[i] == v.dims[static_cast<std::size_t>(i)];
  }
  if (!fits) {
    const std::string given =
        b.flat ? text_from({b.count, " ", name_of(b.type), " values"}) : type_text(b.type, b.rank, b.dims);
    throw feed_error(b.type == v.type ? problem::feed_extents : problem::feed_dtype,
                     text_from({"set ", label, ": expected ", type_text(v.view()), ", got ", given}));
  }
  if (v.size > 0) std::memcpy(v.data.get(), b.data, v.bytes());
}

}  // namespace flowgraph::detail
