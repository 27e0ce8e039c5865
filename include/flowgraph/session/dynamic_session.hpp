// fg::dynamic_session: runs a graph that was built when the program ran. Types of handles check shapes as ever; names,
// feeds and kernels are checked when a step is asked for, each mistake with an exception of its own type. A signature
// is planned once.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/language/graph.hpp>
#include <flowgraph/passes/pipeline.hpp>
#if !defined(FLOWGRAPH_EXTERN_KERNELS) && !defined(FLOWGRAPH_COMPILED)
#include <flowgraph/engine/builtin_kernels.hpp>
#endif
#include <flowgraph/engine/engine.hpp>
#include <flowgraph/engine/kernel_table.hpp>
#include <flowgraph/engine/step_table.hpp>
#include "put_values.hpp"
#include "resource_handles.hpp"
#include "session_devices.hpp"

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

// A plan with the nodes that it was made for.
struct planned_step {
  std::vector<int> fetches, feeds;
  plan_data plan;
  std::unique_ptr<prepared_step> step;

  bool is_for(slice<int> wanted_fetches, slice<int> wanted_feeds) const {
    return std::equal(fetches.begin(), fetches.end(), wanted_fetches.begin(), wanted_fetches.end()) &&
           std::equal(feeds.begin(), feeds.end(), wanted_feeds.begin(), wanted_feeds.end());
  }
};

}  // namespace detail

// May be moved, not copied. run, get, set, initialize and profile may be called on any number of threads at once, as
// long as the graph does not grow at the same time.
class dynamic_session {
 public:
  // The graph outlives the session and may grow between steps.
  explicit dynamic_session(graph& g, const session_options& options = {}) : dynamic_session(g.data(), options) {}
  explicit dynamic_session(graph_data& g, const session_options& options = {})
      : parts_(std::make_unique<parts>(g, options)) {
    engine().add_state(view());
  }

  // One step: float l = s.run(loss, train, fg::feed(x, images), fg::feed("y", labels)); fetches and feeds in any
  // order. One fetch with a value gives an fg::ndarray, or a number for a scalar; several give a std::tuple of those;
  // operations alone give nothing. With fg::limits among the arguments the step ends with cancelled_error or
  // deadline_error when it is not done in time.
  template <detail::run_argument... Arguments>
  auto run(const Arguments&... arguments) {
    using values = decltype(std::tuple_cat(std::declval<typename detail::asked<Arguments>::type>()...));
    return with_step(
        [this](detail::prepared_step& s, const graph_view& g, const detail::borrowed* const* data,
               const limits* within) {
          return engine().run(s, g, data, within,
                              [](const auto& done) { return detail::collect_values<values>(done); });
        },
        arguments...);
  }

  // A step without a thread of the caller's: an fg::future of what run gives. Feeds are copied. It runs on the
  // session's threads, and while it waits for a queue, a mutex or a barrier it needs none.
  template <detail::run_argument... Arguments>
  auto run_async(const Arguments&... arguments) {
    using values = decltype(std::tuple_cat(std::declval<typename detail::asked<Arguments>::type>()...));
    return with_step(
        [this](detail::prepared_step& s, const graph_view& g, const detail::borrowed* const* data,
               const limits* within) {
          return engine().run_async(s, g, data, within,
                                    [](const auto& done) { return detail::collect_values<values>(done); });
        },
        arguments...);
  }

  // Values go where the caller says, so that nothing is allocated: s.run_into(out, logits, feeds...), and for several
  // values s.run_into(std::tie(loss_value, out), loss, logits, feeds...). An array of other extents gets new ones.
  template <class Target, detail::run_argument... Arguments>
  void run_into(Target&& target, const Arguments&... arguments) {
    using values = decltype(std::tuple_cat(std::declval<typename detail::asked<Arguments>::type>()...));
    const auto targets = detail::targets_of(target);
    if constexpr (detail::target_check<std::remove_cvref_t<decltype(targets)>, values>::check())
      with_step(
          [&](detail::prepared_step& s, const graph_view& g, const detail::borrowed* const* data,
              const limits* within) {
            engine().run(s, g, data, within, [&](const auto& done) { detail::put_values(done, targets); });
          },
          arguments...);
  }

  // How such a step runs: a line for each instruction with its node, op and shape, and whose kernel computes it.
  // Nothing runs; the feeds only say how large everything is.
  template <detail::run_argument... Arguments>
  std::string plan_text(const Arguments&... arguments) {
    return with_step([this](detail::prepared_step& s, const graph_view& g, const detail::borrowed* const* data,
                            const limits*) { return engine().plan_text(s, g, data); },
                     arguments...);
  }

  // A handle by name: auto loss = s.find<float>("loss"). Throws name_error, or graph_error if it is something else.
  template <class T, auto... E>
  tensor<T, detail::canonical<E>()...> find(std::string_view name) {
    using result = tensor<T, detail::canonical<E>()...>;
    const int id = node_of_name(name);
    const node& n = data().nodes[id];
    if (n.type != detail::dtype_of<T> || data().shapes[n.shape].hash != result::shape.hash || n.type == dtype::none)
      throw graph_error(problem::invalid_graph, fmt::format("\"{}\" is {}, not {}", name, described(id),
                                                            detail::shape_to_text(detail::dtype_of<T>, result::shape)));
    return {&data(), id};
  }
  operation find_operation(std::string_view name) {
    const int id = node_of_name(name);
    if (data().nodes[id].type != dtype::none)
      throw graph_error(problem::invalid_graph, fmt::format("\"{}\" is {}, not an operation", name, described(id)));
    return {&data(), id};
  }

  // A variable's value. Waits for steps that are changing it.
  template <any_variable V>
  auto get(const V& variable) {
    using array = typename detail::shaped<ndarray, element_t<V>, tensor_t<V>>::type;
    engine().add_state(view());
    return engine().read(check_handle(variable), detail::copy_variable<array>);
  }
  template <any_variable V, feedable D>
  void set(const V& variable, const D& data) {
    const auto checked = feed(variable, data);
    engine().add_state(view());
    engine().write(check_handle(variable),
                   [&](detail::variable_state& v) { detail::assign_variable(view(), v, checked.data); });
  }
  // All variables begin again, with this seed.
  void initialize(std::uint64_t seed) {
    engine().add_state(view());
    engine().initialize(view(), seed);
  }

  // A queue, mutex or barrier of the graph, for use from C++: s.queue(examples).enqueue(image, label).
  template <any_tensor... Components>
  queue_handle<Components...> queue(const flowgraph::queue<Components...>& q) {
    return queue_handle<Components...>(resource_of<detail::queue_resource>(q));
  }
  mutex_handle mutex(const mutex_in_graph& m) { return mutex_handle(resource_of<detail::mutex_resource>(m)); }
  barrier_handle barrier(const barrier_in_graph& b) { return barrier_handle(resource_of<detail::barrier_resource>(b)); }

  // The last steps, as many as options.profile says, oldest first.
  std::vector<step_profile> profile() const { return parts_->engine.profile(); }

 private:
  friend detail::session_access;

  struct parts {
    parts(graph_data& g, const session_options& o)
        : graph(g),
          engine(o),
          devices(detail::device_views(engine.options().devices)) {
      detail::require_device_list(detail::device_slice(devices));
      if (devices.empty()) devices.assign(detail::local_device_list.begin(), detail::local_device_list.end());
    }

    ~parts() { engine.end_async(); }  // while their plans are there

    graph_data& graph;
    detail::engine engine;
    std::vector<std::string_view> devices;
    detail::step_table<detail::planned_step> steps;
  };

  // use(prepared_step, graph_view, data of the feeds, limits or null)
  template <class Use, class... Arguments>
  auto with_step(const Use& use, const Arguments&... arguments) {
    constexpr std::size_t n_feeds = (std::size_t{0} + ... + detail::is_feed<Arguments>);
    int fetches[sizeof...(Arguments) - n_feeds + 1], feeds[n_feeds + 1];
    const detail::borrowed* data[n_feeds + 1];
    const limits* within = nullptr;
    int fetched = 0, fed = 0;
    const auto sort = [&]<class A>(const A& a) {
      if constexpr (detail::is_feed<A>) {
        feeds[fed] = node_of(a);
        data[fed++] = &a.data;
      } else if constexpr (std::same_as<A, limits>) {
        within = &a;
      } else {
        fetches[fetched++] = check_handle(a);
      }
    };
    (sort(arguments), ...);
    detail::prepared_step& step = prepared<>({fetches, fetched}, {feeds, fed});
    return use(step, view(), data, within);
  }

  detail::engine& engine() { return parts_->engine; }
  graph_data& data() const { return parts_->graph; }
  graph_view view() const { return parts_->graph.view(); }

  template <class Resource, class Handle>
  std::shared_ptr<Resource> resource_of(const Handle& h) {
    engine().add_state(view());
    return engine().template resource_of<Resource>(check_handle(h));
  }
  template <class Handle>
  int check_handle(const Handle& h) const {
    if (h.graph != &data() || h.id < 0 || h.id >= data().size())
      throw graph_error(problem::different_graphs, "run: a handle belongs to another graph than the session's");
    return h.id;
  }
  int node_of_name(std::string_view name) const {
    const int id = view().find(name);
    if (id < 0)
      throw name_error(problem::unknown_name, fmt::format("\"{}\": {}{}", name, sentence(problem::unknown_name),
                                                          detail::near_names(view(), name)));
    return id;
  }
  std::string described(int id) const {
    if (data().nodes[id].type == dtype::none) return "an operation";
    return detail::type_text(view(), id);
  }

  int node_of(const detail::text_feed& f) const { return node_of_name(f.name); }
  template <fixed_string Name, class D>
  int node_of(const detail::named_feed<Name, D>&) const {
    return node_of_name(Name.view());
  }
  template <class Tensor, class D>
  int node_of(const detail::handle_feed<Tensor, D>& f) const {
    return check_handle(f);
  }

  // A template, so that the table of kernels is instantiated only where a step is run.
  template <class Kernels = void>
  detail::prepared_step& prepared(detail::slice<int> fetches, detail::slice<int> feeds) {
    std::uint64_t hash = 0;
    for (const int f : fetches) hash = detail::mix(hash, static_cast<std::uint64_t>(f));
    for (const int f : feeds) hash = detail::mix(hash, ~static_cast<std::uint64_t>(f));
    detail::planned_step& found = parts_->steps.find(
        hash, [&](const detail::planned_step& s) { return s.is_for(fetches, feeds); },
        [&] { return make_step<Kernels>(fetches, feeds); });
    return *found.step;
  }
  template <class Kernels>
  std::unique_ptr<detail::planned_step> make_step(detail::slice<int> fetches, detail::slice<int> feeds) {
    auto made = std::make_unique<detail::planned_step>();
    const graph_view g = view();
    made->fetches.assign(fetches.begin(), fetches.end());
    made->feeds.assign(feeds.begin(), feeds.end());
    passes::options how = engine().options().passes;
    how.wide = how.wide && engine().options().threads != 1;  // one thread gains nothing from more memory
    made->plan = passes::plan(g, {fetches, feeds}, detail::device_slice(parts_->devices), how);
    if (made->plan.fault.why != problem::none) refuse(made->plan.fault);
    engine().add_state(g);
    made->step = std::make_unique<detail::prepared_step>(made->plan.view(), g, &detail::find_kernel<Kernels>);
    return made;
  }

  [[noreturn]] void refuse(const plan_fault& fault) const {
    const graph_view g = view();
    std::string message(sentence(fault.why));
    if (fault.node >= 0) {
      message = fmt::format("{} ({}): {}", detail::label_of(g, fault.node), detail::line_text(g, fault.node), message);
      if (g.nodes[fault.node].type != dtype::none) message += ": " + detail::type_text(g, fault.node);
    }
    switch (fault.why) {
      case problem::not_fed:
      case problem::fed_in_vain:
      case problem::fed_twice:
      case problem::operation_fed:
        throw feed_error(fault.why, message);
      case problem::nothing_fetched:
        throw argument_error(fault.why, message);
      case problem::no_device:
        throw plan_error(fault.why, fmt::format("{}: \"{}\"", message, g.device(fault.node)));
      default:
        throw plan_error(fault.why, message);
    }
  }

  std::unique_ptr<parts> parts_;
};

}  // namespace flowgraph
