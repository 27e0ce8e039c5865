// fg::dynamic_session: runs graphs that were built when the program ran: one that outlives it, or any that come and go.
// Types of handles check shapes as ever; names, feeds and kernels are checked when a step is asked for, each mistake
// with an exception of its own type. A signature is planned once; of graphs that come and go, once for each structure.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/language/graph.hpp>
#include "engine_here.hpp"
#include "future.hpp"
#include "library_kernels.hpp"
#include "put_values.hpp"
#include "resource_handles.hpp"
#include "resources.hpp"
#include "session_access.hpp"
#include "variables.hpp"

namespace flowgraph {

namespace detail {

template <class T>
concept fetch_argument = any_tensor<T> || std::same_as<T, operation>;
template <class T>
concept run_argument = fetch_argument<T> || is_feed<T> || std::same_as<T, limits>;

// The values that an argument of run asks for: none or one.
template <class T>
struct asked {
  using type = std::tuple<>;
};
template <any_tensor T>
struct asked<T> {
  template <class U, auto... E>
  static value_of_array<ndarray<U, E...>> value(const tensor<U, E...>&);
  using type = std::tuple<decltype(value(std::declval<tensor_t<T>>()))>;
};

// The graph of the first argument that has one; null: none has.
template <class... Arguments>
const graph_data* graph_among(const Arguments&... arguments) {
  const graph_data* g = nullptr;
  const auto look = [&](const auto& a) {
    if constexpr (requires { a.graph; })
      if (g == nullptr) g = a.graph;
  };
  (look(arguments), ...);
  return g;
}

template <class... Arguments>
using asked_of = decltype(std::tuple_cat(std::declval<typename asked<Arguments>::type>()...));

}  // namespace detail

// May be moved, not copied; one that was moved from refuses all calls, with argument_error. run, get, set, initialize
// and profile may be called on any number of threads at once, as long as the graph does not grow at the same time.
template <class Tag = void>
class basic_dynamic_session {
 public:
  // The graph outlives the session and may grow between steps.
  explicit basic_dynamic_session(graph& g, const session_options& options = {})
      : basic_dynamic_session(g.data(), options) {}
  explicit basic_dynamic_session(graph_data& g, const session_options& options = {})
      : graph_(&g),
        engine_(detail::make_engine(options, g.view(), &detail::find_resource)) {}
  // Runs whatever graph the handles that it is given belong to, which may be gone afterwards:
  //   for (const tree& t : trees) {
  //     fg::graph g;
  //     auto [loss, train] = build(g, t);
  //     total += s.run(loss, train);
  //   }
  // Their variables are one where their names are, and stay. A graph of a structure that was run before finds its plan
  // again; options.plans says how many are kept.
  explicit basic_dynamic_session(const session_options& options = {})
      : graph_(nullptr),
        engine_(detail::make_engine(options, &detail::find_resource)) {}

  // One step: float l = s.run(loss, train, fg::feed(x, images), fg::feed("y", labels)); fetches and feeds in any
  // order. One fetch with a value gives an fg::ndarray, or a number for a scalar; several give a std::tuple of those;
  // operations alone give nothing. With fg::limits among the arguments the step ends with cancelled_error or
  // deadline_error when it is not done in time.
  template <detail::run_argument... Arguments>
  auto run(const Arguments&... arguments) {
    return with_step(
        [](detail::engine& e, const graph_view& g, const step& s, const detail::step_request& r) {
          return detail::run_for_values<detail::asked_of<Arguments...>>(e, *s, g, r);
        },
        arguments...);
  }

  // A step without a thread of the caller's: an fg::future of what run gives. Feeds are copied. It runs on the
  // session's threads, and while it waits for a queue, a mutex or a barrier it needs none. The graph outlives it.
  template <detail::run_argument... Arguments>
  auto run_async(const Arguments&... arguments) {
    return with_step(
        [](detail::engine& e, const graph_view& g, const step& s, const detail::step_request& r) {
          return detail::start_for_values<detail::asked_of<Arguments...>>(e, *s, g, r, s);
        },
        arguments...);
  }

  // Values go where the caller says, so that nothing is allocated: s.run_into(out, logits, feeds...), and for several
  // values s.run_into(std::tie(loss_value, out), loss, logits, feeds...). An array of other extents gets new ones.
  template <class Target, detail::run_argument... Arguments>
  void run_into(Target&& target, const Arguments&... arguments) {
    const auto targets = detail::targets_of(target);
    if constexpr (detail::target_check<std::remove_cvref_t<decltype(targets)>, detail::asked_of<Arguments...>>::check())
      with_step(
          [&](detail::engine& e, const graph_view& g, const step& s, const detail::step_request& r) {
            detail::run(e, *s, g, r, [&](const detail::step_values& done) { detail::put_values(done, targets); });
          },
          arguments...);
  }

  // How such a step runs: a line for each instruction with its node, op and shape, and whose kernel computes it.
  // Nothing runs; the feeds only say how large everything is.
  template <detail::run_argument... Arguments>
  std::string plan_text(const Arguments&... arguments) {
    return with_step([](detail::engine& e, const graph_view& g, const step& s,
                        const detail::step_request& r) { return detail::plan_text(e, *s, g, r); },
                     arguments...);
  }

  // A handle by name: auto loss = s.find<float>("loss"). Throws name_error, or graph_error if it is something else.
  template <class T, auto... E>
  tensor<T, detail::canonical<E>()...> find(std::string_view name) {
    using result = tensor<T, detail::canonical<E>()...>;
    if (graph_ == nullptr) detail::refuse_without_graph("find");
    const int id = detail::node_of_name(view(), name);
    const node& n = data().nodes[id];
    if (n.type != detail::dtype_of<T> || data().shapes[n.shape].hash != result::shape.hash || n.type == dtype::none)
      detail::refuse_node(view(), id, detail::shape_to_text(detail::dtype_of<T>, result::shape));
    return {&data(), id};
  }
  operation find_operation(std::string_view name) {
    if (graph_ == nullptr) detail::refuse_without_graph("find_operation");
    const int id = detail::node_of_name(view(), name);
    if (data().nodes[id].type != dtype::none) detail::refuse_node(view(), id, "an operation");
    return {&data(), id};
  }

  // A variable's value. Waits for steps that are changing it.
  template <any_variable V>
  auto get(const V& variable) {
    using array = typename detail::shaped<ndarray, element_t<V>, tensor_t<V>>::type;
    const int node = check_handle(variable, graph_of(variable));
    return detail::copy_variable<array>(detail::session_access::engine_of(*this), graph_of(variable).view(), node);
  }
  template <any_variable V, feedable D>
  void set(const V& variable, const D& data) {
    const auto checked = feed(variable, data);
    const int node = check_handle(variable, graph_of(variable));
    detail::write_variable(detail::session_access::engine_of(*this), graph_of(variable).view(), node, checked.data);
  }
  template <any_variable V, element T, std::size_t N>
  void set(const V& variable, T (&&data)[N]) {
    set(variable, std::to_array(data));
  }
  // All variables begin again, with this seed. Of a session with a graph of its own, which says how.
  void initialize(std::uint64_t seed) {
    if (graph_ == nullptr) detail::refuse_without_graph("initialize");
    detail::initialize(detail::session_access::engine_of(*this), view(), seed);
  }

  // A queue, mutex or barrier of the graph, for use from C++: s.queue(examples).enqueue(image, label).
  template <any_tensor... Components>
  queue_handle<Components...> queue(const flowgraph::queue<Components...>& q) {
    return queue_handle<Components...>(resource_of(q));
  }
  mutex_handle mutex(const mutex_in_graph& m) { return mutex_handle(resource_of(m)); }
  barrier_handle barrier(const barrier_in_graph& b) { return barrier_handle(resource_of(b)); }

  // The last steps, as many as options.profile says, oldest first.
  std::vector<step_profile> profile() const { return detail::profile_of(*engine_); }

 private:
  friend detail::session_access;
  using step = std::shared_ptr<detail::prepared_step>;

  // use(engine, graph, step, request)
  template <class Use, class... Arguments>
  auto with_step(const Use& use, const Arguments&... arguments) {
    detail::engine& e = *engine_;
    const graph_data& graph = graph_of(arguments...);
    constexpr std::size_t n_feeds = (std::size_t{0} + ... + detail::is_feed<Arguments>);
    int fetches[sizeof...(Arguments) - n_feeds + 1], feeds[n_feeds + 1];
    const detail::borrowed* data[n_feeds + 1];
    const limits* within = nullptr;
    int fetched = 0, fed = 0;
    const auto sort = [&]<class A>(const A& a) {
      if constexpr (detail::is_feed<A>) {
        feeds[fed] = node_of(a, graph);
        data[fed++] = &a.data;
      } else if constexpr (std::same_as<A, limits>) {
        within = &a;
      } else {
        fetches[fetched++] = check_handle(a, graph);
      }
    };
    (sort(arguments), ...);
    // The table of kernels is compiled only where a step is run: where this is.
    const graph_view g = graph.view();
    return use(e, g,
               detail::prepare(e, g, {fetches, fetched}, {feeds, fed},
                               detail::library_kernels<typename detail::void_when_used<Use>::type>()),
               detail::step_request{data, within});
  }

  graph_data& data() const { return *graph_; }
  graph_view view() const { return graph_ == nullptr ? graph_view{} : graph_->view(); }
  // Its own, or that of the arguments.
  template <class... Arguments>
  const graph_data& graph_of(const Arguments&... arguments) const {
    const graph_data* const g = graph_ != nullptr ? graph_ : detail::graph_among(arguments...);
    if (g == nullptr) detail::refuse_without_graph("run");
    return *g;
  }

  template <class Handle>
  std::shared_ptr<detail::resource> resource_of(const Handle& h) {
    const int node = check_handle(h, graph_of(h));
    return detail::resource_of(detail::session_access::engine_of(*this), graph_of(h).view(), node);
  }
  template <class Handle>
  static int check_handle(const Handle& h, const graph_data& g) {
    if (h.graph != &g || h.id < 0 || h.id >= g.size()) detail::refuse_other_graph();
    return h.id;
  }
  template <class Text, class D, bool Owned>
  static int node_of(const detail::text_feed<Text, D, Owned>& f, const graph_data& g) {
    return detail::node_of_name(g.view(), f.name);
  }
  template <fixed_string Name, class D, bool Owned>
  static int node_of(const detail::named_feed<Name, D, Owned>&, const graph_data& g) {
    return detail::node_of_name(g.view(), Name.view());
  }
  template <class Tensor, class D, bool Owned>
  static int node_of(const detail::handle_feed<Tensor, D, Owned>& f, const graph_data& g) {
    return check_handle(f, g);
  }

  graph_data* graph_;  // null: any
  detail::engine_handle engine_;
};
using dynamic_session = basic_dynamic_session<>;

}  // namespace flowgraph
