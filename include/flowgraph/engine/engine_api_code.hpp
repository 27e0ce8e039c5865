// Defines what session/engine_api.hpp declares: the way from a session into the engine.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/report/numerics_check.hpp>
#include <flowgraph/engine/report/step_recorder.hpp>
#include <flowgraph/engine/resources/resources.hpp>
#include <flowgraph/engine/step/async_step.hpp>
#include <flowgraph/engine/threads/signal.hpp>
#include <flowgraph/kernels/user_kernels.hpp>
#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/session/engine_api.hpp>
#include <flowgraph/session/resources.hpp>
#include <flowgraph/session/variables.hpp>
#include "built_in_providers.hpp"
#include "engine.hpp"
#include "text.hpp"

// A program whose files disagree about the place of the other half would have two engines, and the linker refuses it: a
// symbol is thread-local in files that are header-only, and is not where it is compiled for the whole program.
extern "C" {
#ifdef FLOWGRAPH_IMPLEMENTATION
extern const char flowgraph_is_header_only_in_one_file_and_compiled_for_another;
const char flowgraph_is_header_only_in_one_file_and_compiled_for_another = 0;
#elif defined(__ELF__)
[[gnu::used]] inline thread_local char flowgraph_is_header_only_in_one_file_and_compiled_for_another = 0;
#endif
}

namespace flowgraph::detail {

template <class Tag = void>
[[noreturn]] void refuse_plan(const graph_view& g, const plan_fault& fault) {
  std::string message(sentence(fault.why));
  if (fault.node >= 0) {
    message = text_from({label_of(g, fault.node), " (", line_text(g, fault.node), "): ", message});
    if (g.nodes[fault.node].type != dtype::none) message += ": " + type_text(g, fault.node);
  }
  switch (fault.why) {
    case problem::not_fed:
    case problem::fed_in_vain:
    case problem::fed_twice:
    case problem::operation_fed:
    case problem::extent_unknown:
      throw feed_error(fault.why, message);
    case problem::nothing_fetched:
      throw argument_error(fault.why, message);
    case problem::no_device:
      throw plan_error(fault.why, text_from({message, ": \"", g.device(fault.node), "\""}));
    default:
      throw plan_error(fault.why, message);
  }
}

template <class Tag = void>
owner<planned_now> plan_now(engine& e, const graph_view& g, slice<int> fetches, slice<int> feeds,
                            kernel_finder library) {
  auto made = make_owner<planned_now>();
  passes::options how = e.options().passes;
  how.wide = how.wide && e.options().threads != 1;  // one thread gains nothing from more memory
#ifndef NDEBUG
  how.verify = true;
#endif
  made->plan = passes::plan(g, {fetches, feeds}, e.devices(), how);
  if (made->plan.fault.why != problem::none) refuse_plan(g, made->plan.fault);
  made->step = make_owner<prepared_step>(
      made->plan.view(), g, kernel_source{.own = &find_user_kernel, .library = library}, e.devices_beside_cpus());
  return made;
}

template <class Tag = void>
list<variable_view> views_of(std::span<const declared_variable> all) {
  list<variable_view> views;
  for (const declared_variable& v : all)
    views.push_back({v.node, v.variable->name, v.variable->trainable, v.variable->view()});
  return views;
}

template <class Tag = void>
variable_state& variable_of(variable_table& t, std::string_view name) {
  variable_state* const v = t.find(name);
  if (v == nullptr)
    throw name_error(problem::no_such_variable, text_from({"\"", name, "\": ", sentence(problem::no_such_variable)}));
  return *v;
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_CODE int default_threads() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

FLOWGRAPH_LAZY_CODE engine* make_engine(const session_options& o, const graph_view& g, resource_finder find) {
  auto e = make_owner<engine>(o, built_in_providers(), find, false);
  e->add_state(g);
  return e.release();
}
FLOWGRAPH_LAZY_CODE engine* make_engine(const session_options& o, resource_finder find) {
  return new engine(o, built_in_providers(), find, true);
}
FLOWGRAPH_LAZY_CODE void give_back(engine* e) noexcept { delete e; }

FLOWGRAPH_LAZY_CODE void add_state(engine& e, const graph_view& g) { e.add_state(g); }
FLOWGRAPH_LAZY_CODE void initialize(engine& e, const graph_view& g, std::uint64_t seed) { e.initialize(g, seed); }

FLOWGRAPH_LAZY_CODE prepared_step& prepare(engine& e, const planned_step& s) { return e.prepare(s); }
FLOWGRAPH_LAZY_CODE std::shared_ptr<prepared_step> prepare(engine& e, const graph_view& g, slice<int> fetches,
                                                           slice<int> feeds, kernel_finder library) {
  return e.prepare(g, fetches, feeds, library, [&] { return plan_now(e, g, fetches, feeds, library); });
}

FLOWGRAPH_LAZY_CODE void run(engine& e, prepared_step& s, const graph_view& g, const step_request& r,
                             callback<void(const step_values&)> collect) {
  e.run(s, g, r, collect);
}
FLOWGRAPH_LAZY_CODE void start(engine& e, prepared_step& s, const graph_view& g, const step_request& r,
                               std::shared_ptr<step_listener> listener) {
  crew& threads = e.threads();
  auto step = make_owner<async_step>(e, s, g, r, std::move(listener));
  e.without_callers().enter(step->timed());
  threads.post(*step.release());
}
FLOWGRAPH_LAZY_CODE std::string plan_text(engine& e, prepared_step& s, const graph_view& g, const step_request& r) {
  return e.plan_text(s, g, r.feeds);
}

FLOWGRAPH_LAZY_CODE signal* make_signal() { return new signal; }
FLOWGRAPH_LAZY_CODE void give_back(signal* s) noexcept { delete s; }
FLOWGRAPH_LAZY_CODE void set_signal(signal& s) noexcept { s.set(); }
FLOWGRAPH_LAZY_CODE bool wait_for_signal(signal& s, double nanoseconds) {
  return s.wait(flowgraph::within(std::chrono::duration<double, std::nano>(nanoseconds)).deadline);
}

FLOWGRAPH_LAZY_CODE std::vector<step_profile> profile_of(engine& e) { return e.profile(); }

FLOWGRAPH_LAZY_CODE void read_variable(engine& e, const graph_view& g, int node,
                                       callback<void(const array_view&)> use) {
  e.read(g, node, [&](const variable_state& v) { use(v.view()); });
}
FLOWGRAPH_LAZY_CODE void write_variable(engine& e, const graph_view& g, int node, const borrowed& data) {
  e.write(g, node, [&](variable_state& v) { assign_variable(label_of(g, node), v, data); });
}
FLOWGRAPH_LAZY_CODE bool runs_any_graph(engine& e) { return e.runs_any_graph(); }
FLOWGRAPH_LAZY_CODE void bring_variable(engine& e, std::string_view name, dtype type,
                                        std::span<const std::int64_t> dims) {
  e.bring(name, type, dims);
}
FLOWGRAPH_LAZY_CODE [[noreturn]] void refuse_moved_from() {
  throw argument_error(problem::moved_from, sentence(problem::moved_from));
}
FLOWGRAPH_LAZY_CODE [[noreturn]] void refuse_without_graph(std::string_view what) {
  throw graph_error(problem::no_graph_of_its_own, text_from({what, ": ", sentence(problem::no_graph_of_its_own)}));
}
FLOWGRAPH_LAZY_CODE [[noreturn]] void refuse_other_graph() {
  throw graph_error(problem::different_graphs, "run: a handle belongs to another graph than the session's");
}
FLOWGRAPH_LAZY_CODE void read_variables(engine& e,
                                        callback<void(std::span<const variable_view>, random_position)> use) {
  e.read_all([&](std::span<const declared_variable> all, random_position p) { use(views_of(all), p); });
}
FLOWGRAPH_LAZY_CODE void write_variables(engine& e, const random_position* p,
                                         callback<void(std::span<const variable_view>)> use) {
  e.write_all(p == nullptr ? std::nullopt : std::optional(*p),
              [&](std::span<const declared_variable> all) { use(views_of(all)); });
}

FLOWGRAPH_LAZY_CODE std::shared_ptr<resource> find_resource(std::shared_ptr<resources>& all, std::string_view name,
                                                            std::uint64_t op, slice<std::int64_t> words,
                                                            std::uint64_t seed) {
  if (all == nullptr) all = std::make_shared<resources>();
  return all->table().find(name, op, words, seed);
}
FLOWGRAPH_LAZY_CODE std::shared_ptr<resource> resource_of(engine& e, const graph_view& g, int node) {
  return e.resource_of(g, node);
}
FLOWGRAPH_LAZY_CODE void enqueue(resource& queue, const array_view* values, std::int64_t rows, bool many,
                                 const limits* within) {
  queue_resource::putting turn(static_cast<queue_resource&>(queue), many, false);
  begin_and_wait(turn, within, [&](waiter& w) { return turn.begin(values, rows, w); });
  turn.finish({});
}
FLOWGRAPH_LAZY_CODE void dequeue(resource& queue, taking how, std::int64_t n, const limits* within,
                                 callback<std::span<const array_view>(std::int64_t)> make) {
  if (n < 1) throw argument_error(problem::dequeue_count, sentence(problem::dequeue_count));
  queue_resource::getting turn(static_cast<queue_resource&>(queue), how, false);
  begin_and_wait(turn, within, [&](waiter& w) { return turn.begin(n, w); });
  const std::span<const array_view> out = make(turn.count());
  kernel_args k;
  k.out = out.data();
  k.n_out = static_cast<int>(out.size());
  turn.finish(k);
}
FLOWGRAPH_LAZY_CODE std::int64_t queue_size(resource& queue) { return static_cast<queue_resource&>(queue).size(); }
FLOWGRAPH_LAZY_CODE bool queue_closed(resource& queue) { return static_cast<queue_resource&>(queue).closed(); }
FLOWGRAPH_LAZY_CODE void close_queue(resource& queue, pending p) { static_cast<queue_resource&>(queue).close(p); }
FLOWGRAPH_LAZY_CODE void lock_mutex(resource& mutex, const void* owner, const limits* within) {
  mutex_resource::acquiring turn(static_cast<mutex_resource&>(mutex), owner);
  begin_and_wait(turn, within, [&](waiter& w) { return turn.begin({}, w); });
}
FLOWGRAPH_LAZY_CODE bool try_lock_mutex(resource& mutex, const void* owner) {
  return static_cast<mutex_resource&>(mutex).try_acquire(owner);
}
FLOWGRAPH_LAZY_CODE void unlock_mutex(resource& mutex, const void* owner) {
  auto& m = static_cast<mutex_resource&>(mutex);
  if (!m.release(owner)) m.refuse(problem::mutex_not_held);
}
FLOWGRAPH_LAZY_CODE void arrive_at(resource& barrier, const limits* within) {
  barrier_resource::arriving turn(static_cast<barrier_resource&>(barrier));
  begin_and_wait(turn, within, [&](waiter& w) { return turn.begin({}, w); });
}
FLOWGRAPH_LAZY_CODE variable_table* make_variable_table() { return new variable_table; }
FLOWGRAPH_LAZY_CODE void give_back(variable_table* t) noexcept { delete t; }
FLOWGRAPH_LAZY_CODE std::vector<std::string> names_of(variable_table& t) {
  std::vector<std::string> names;
  for (const variable_state* v : t.all())
    if (!v->name.empty()) names.push_back(v->name);
  return names;
}
FLOWGRAPH_LAZY_CODE bool has_variable(variable_table& t, std::string_view name) { return t.find(name) != nullptr; }
FLOWGRAPH_LAZY_CODE void copy_variable(variable_table& t, std::string_view name, const array_view& to) {
  const variable_access a{&variable_of(t, name), false};
  if (a.variable->type != to.type ||
      !std::equal(a.variable->dims.begin(), a.variable->dims.end(), to.dims, to.dims + to.rank))
    throw graph_error(problem::variable_differs,
                      text_from({"\"", name, "\": ", sentence(problem::variable_differs), ": ", type_text(to),
                                 " instead of ", type_text(a.variable->view())}));
  const variable_hold hold(t.room, {&a, 1});
  if (a.variable->size > 0) std::memcpy(to.data, a.variable->data.get(), a.variable->bytes());
}
FLOWGRAPH_LAZY_CODE void write_variable(variable_table& t, std::string_view name, const borrowed& data) {
  const variable_access a{&variable_of(t, name), true};
  const variable_hold hold(t.room, {&a, 1});
  assign_variable(text_from({"\"", name, "\""}), *a.variable, data);
}

FLOWGRAPH_LAZY_CODE resource_table* make_resource_table() { return new resource_table; }
FLOWGRAPH_LAZY_CODE void give_back(resource_table* t) noexcept { delete t; }

FLOWGRAPH_LAZY_CODE int node_of_name(const graph_view& g, std::string_view name) {
  const int id = g.find(name);
  if (id < 0)
    throw name_error(problem::unknown_name,
                     text_from({"\"", name, "\": ", sentence(problem::unknown_name), near_names(g, name)}));
  return id;
}
FLOWGRAPH_LAZY_CODE [[noreturn]] void refuse_node(const graph_view& g, int node, std::string_view wanted) {
  throw graph_error(
      problem::invalid_graph,
      text_from({label_of(g, node), " is ", g.nodes[node].type == dtype::none ? "an operation" : type_text(g, node),
                 ", not ", wanted}));
}
FLOWGRAPH_LAZY_CODE [[noreturn]] void refuse_target(const array_view& value, const std::int64_t* dims) {
  throw argument_error(
      problem::array_data,
      text_from({"run_into: the view is ", type_text(value.type, value.rank, dims), ", the value ", type_text(value)}));
}
FLOWGRAPH_LAZY_CODE void require_same_devices(const std::vector<std::string>& given, slice<std::string_view> type) {
  if (given.empty()) return;
  const list<std::string_view> views = device_views(given);
  require_device_list(device_slice(views));
  if (!same_devices(device_slice(views), type))
    throw argument_error(problem::devices_differ,
                         text_from({"session: ", sentence(problem::devices_differ), ": ",
                                    device_list_text(device_slice(views)), " instead of ", device_list_text(type)}));
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
