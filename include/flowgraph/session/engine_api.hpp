// All that sessions ask of the engine, as functions that are no templates: a step is a plan with kernels by number,
// feeds, and somebody to collect its values. What is behind them (engine/, kernels/) is compiled where
// core/other_half.hpp says, and a file that runs a session need not see it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/callback.hpp>
#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/graph/node.hpp>
#include <flowgraph/kernels/kernel_use.hpp>
#include "options.hpp"
#include "profile.hpp"
#include "resources.hpp"

namespace flowgraph {

struct limits;  // limits.hpp
enum class pending : std::int64_t;

namespace detail {

template <class Tag = void>
class basic_engine;
using engine = basic_engine<>;
template <class Tag = void>
class basic_prepared_step;
using prepared_step = basic_prepared_step<>;  // a plan that an engine can run

// A step as plain data: what the compiler, or a dynamic_session, made of a signature.
struct planned_step {
  plan_view plan;
  graph_view graph;
  kernel_source kernels;
};

// The values of a step that is done, for who collects them. Operations have none and are not counted.
class step_values {
 public:
  virtual std::size_t size() const = 0;
  // Its type and extents. What it points to may be a variable that others change: copy() reads it.
  virtual const array_view& view(std::size_t k) const = 0;
  virtual void copy(std::size_t k, void* to) const = 0;
  // The memory of a large value, to be kept and freed as an aligned_buffer is; null: it has to be copied.
  virtual void* give(std::size_t k) const = 0;

 protected:
  ~step_values() = default;
};

// All that random numbers depend on beside the node that draws them.
struct random_position {
  std::uint64_t seed = 0, steps = 0;
};

// What a step is run with. The data of feeds is in the plan's order.
struct step_request {
  const borrowed* const* feeds = nullptr;
  const limits* within = nullptr;  // null: none
  // Of a step that several tasks run parts of: its number, by which their parts meet, and the seed of all. Null: the
  // session's next step.
  const random_position* at = nullptr;
};

// Who hears of the end of a step that runs without its caller. collect, which may throw, comes first and only where
// there are values; then end, with why there are none or null.
class step_listener {
 public:
  virtual ~step_listener() = default;
  virtual void collect(const step_values& done) = 0;
  virtual void end(std::exception_ptr failure) noexcept = 0;
};

// A variable of a session, for who holds it.
struct variable_view {
  int node = -1;          // of the session's graph, if it has one of its own
  std::string_view name;  // empty: it has none
  bool trainable = true;
  array_view value;

  std::size_t bytes() const {
    return static_cast<std::size_t>(value.size()) * static_cast<std::size_t>(size_of(value.type));
  }
  std::vector<std::int64_t> dims() const { return {value.dims, value.dims + value.rank}; }
};

// What one thread sets, once, and others wait for.
template <class Tag = void>
class basic_signal;
using signal = basic_signal<>;
using signal_handle = handle<signal>;

inline namespace FLOWGRAPH_HALF {

// Throws argument_error. The graph of a session<model>, or what a dynamic_session's has by now. find: null where a
// graph never declares a resource.
FLOWGRAPH_LAZY_HALF engine* make_engine(const session_options& o, const graph_view& g, resource_finder find);
// Of a session that has no graph of its own: it runs any, which need not outlive their steps.
FLOWGRAPH_LAZY_HALF engine* make_engine(const session_options& o, resource_finder find);
// When no step is begun any more: those that wait end, and all are over when this returns.
FLOWGRAPH_LAZY_HALF void give_back(engine* e) noexcept;

// What the graph declares and the engine has not: a graph may grow between steps.
FLOWGRAPH_LAZY_HALF void add_state(engine& e, const graph_view& g);
FLOWGRAPH_LAZY_HALF void initialize(engine& e, const graph_view& g, std::uint64_t seed);

// The same for the same address. The step outlives the engine.
FLOWGRAPH_LAZY_HALF prepared_step& prepare(engine& e, const planned_step& s);
// The plan of these nodes, made now or found again. Throws what its nodes, feeds and kernels deserve. Whoever runs the
// step keeps the pointer until it is over.
FLOWGRAPH_LAZY_HALF std::shared_ptr<prepared_step> prepare(engine& e, const graph_view& g, slice<int> fetches,
                                                           slice<int> feeds, kernel_finder library);

// Runs a step on the calling thread and those of the session; collect is called before anybody can change its values.
FLOWGRAPH_LAZY_HALF void run(engine& e, prepared_step& s, const graph_view& g, const step_request& r,
                             callback<void(const step_values&)> collect);
// The same without a thread of the caller's, on copies of the feeds.
FLOWGRAPH_LAZY_HALF void start(engine& e, prepared_step& s, const graph_view& g, const step_request& r,
                               std::shared_ptr<step_listener> listener);
// How a step with these feeds runs: each instruction with its node, its op, what it gives, and whose kernel computes.
FLOWGRAPH_LAZY_HALF std::string plan_text(engine& e, prepared_step& s, const graph_view& g, const step_request& r);

FLOWGRAPH_LAZY_HALF signal* make_signal();
FLOWGRAPH_LAZY_HALF void give_back(signal* s) noexcept;
FLOWGRAPH_LAZY_HALF void set_signal(signal& s) noexcept;
// Waits as many nanoseconds, or until it is set where that is more than a clock can count. True: it was set in time.
inline constexpr double no_end = 1e300;
FLOWGRAPH_LAZY_HALF bool wait_for_signal(signal& s, double nanoseconds);

// The last steps, oldest first.
FLOWGRAPH_LAZY_HALF std::vector<step_profile> profile_of(engine& e);

// use(value) while nobody changes the variable.
FLOWGRAPH_LAZY_HALF void read_variable(engine& e, const graph_view& g, int node, callback<void(const array_view&)> use);
// Throws feed_error where the data does not fit.
FLOWGRAPH_LAZY_HALF void write_variable(engine& e, const graph_view& g, int node, const borrowed& data);
// Of a session without a graph of its own: all variables are those of what it shares, and there may be more than its
// graphs have declared yet.
FLOWGRAPH_LAZY_HALF bool runs_any_graph(engine& e);
// A variable of zeros that a graph will declare; nothing where there is one of that name.
FLOWGRAPH_LAZY_HALF void bring_variable(engine& e, std::string_view name, dtype type,
                                        std::span<const std::int64_t> dims);
// One moment of the session: use(all variables in the order of nodes, position) while nobody changes any of them.
FLOWGRAPH_LAZY_HALF void read_variables(engine& e, callback<void(std::span<const variable_view>, random_position)> use);
// use(all variables) while nobody else uses any. Random numbers go on from the position, if there is one; steps without
// variables that run at the same time draw as before or as after.
FLOWGRAPH_LAZY_HALF void write_variables(engine& e, const random_position* p,
                                         callback<void(std::span<const variable_view>)> use);

// The queue, mutex or barrier of a name; all: made where there are none yet. op, words: how it was declared.
FLOWGRAPH_LAZY_HALF std::shared_ptr<resource> find_resource(std::shared_ptr<resources>& all, std::string_view name,
                                                            std::uint64_t op, slice<std::int64_t> words,
                                                            std::uint64_t seed);
// The one that a node declares. What waits does so on the calling thread.
FLOWGRAPH_LAZY_HALF std::shared_ptr<resource> resource_of(engine& e, const graph_view& g, int node);
// values: one for each component; rows: how many elements they are.
FLOWGRAPH_LAZY_HALF void enqueue(resource& queue, const array_view* values, std::int64_t rows, bool many,
                                 const limits* within);
// make(rows): arrays for as many elements, one for each component.
FLOWGRAPH_LAZY_HALF void dequeue(resource& queue, taking how, std::int64_t n, const limits* within,
                                 callback<std::span<const array_view>(std::int64_t)> make);
FLOWGRAPH_LAZY_HALF std::int64_t queue_size(resource& queue);
FLOWGRAPH_LAZY_HALF bool queue_closed(resource& queue);
FLOWGRAPH_LAZY_HALF void close_queue(resource& queue, pending p);
// owner: tells apart who holds it.
FLOWGRAPH_LAZY_HALF void lock_mutex(resource& mutex, const void* owner, const limits* within);
FLOWGRAPH_LAZY_HALF bool try_lock_mutex(resource& mutex, const void* owner);
FLOWGRAPH_LAZY_HALF void unlock_mutex(resource& mutex, const void* owner);
FLOWGRAPH_LAZY_HALF void arrive_at(resource& barrier, const limits* within);

// Of a dynamic_session. Throws name_error, with the names that are near.
FLOWGRAPH_LAZY_HALF int node_of_name(const graph_view& g, std::string_view name);
// Throws argument_error: the session has no engine any more.
FLOWGRAPH_LAZY_HALF [[noreturn]] void refuse_moved_from();
// Throws graph_error: only a session with a graph of its own does this.
FLOWGRAPH_LAZY_HALF [[noreturn]] void refuse_without_graph(std::string_view what);
// Throws graph_error: handles of one call belong to several graphs.
FLOWGRAPH_LAZY_HALF [[noreturn]] void refuse_other_graph();
// Throws graph_error: the node is not what the caller took it for.
FLOWGRAPH_LAZY_HALF [[noreturn]] void refuse_node(const graph_view& g, int node, std::string_view wanted);
// Throws argument_error: an array of other extents is in the way of a value.
FLOWGRAPH_LAZY_HALF [[noreturn]] void refuse_target(const array_view& value, const std::int64_t* dims);
// Throws argument_error unless no devices were given, or just those that a session's type says.
FLOWGRAPH_LAZY_HALF void require_same_devices(const std::vector<std::string>& given, slice<std::string_view> type);

}  // namespace FLOWGRAPH_HALF

// Of a session, which may have been moved from. A step asks once.
class engine_handle : public handle<engine> {
 public:
  using handle<engine>::handle;
  engine& operator*() const {
    if (get() == nullptr) [[unlikely]]
      refuse_moved_from();
    return *get();
  }
};

}  // namespace detail
}  // namespace flowgraph
