// fg::dynamic_session: runs a graph that was built when the program ran. Types of handles check shapes as ever; names,
// feeds and kernels are checked when a step is asked for, each mistake with an exception of its own type. A signature
// is planned once.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/dsl/graph.hpp>
#include <flowgraph/passes/pipeline.hpp>
#ifndef FLOWGRAPH_EXTERN_KERNELS
#include "builtin_kernels.hpp"
#endif
#include "engine.hpp"
#include "kernel_table.hpp"
#include "static_step.hpp"

namespace flowgraph {

namespace detail {

template <class T>
concept fetch_argument = any_tensor<T> || std::same_as<T, operation>;
template <class T>
concept run_argument = fetch_argument<T> || is_feed<T>;

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
};

}  // namespace detail

class dynamic_session {
 public:
  // The graph outlives the session and may grow between steps.
  explicit dynamic_session(graph& g, const session_options& options = {}) : graph_(g.data()), engine_(options) {
    engine_.add_variables(graph_.view());
  }
  dynamic_session(const dynamic_session&) = delete;
  dynamic_session& operator=(const dynamic_session&) = delete;

  // One step: float l = s.run(loss, train, fg::feed(x, images), fg::feed("y", labels)); fetches and feeds in any
  // order. One fetch with a value gives an fg::ndarray, or a number for a scalar; several give a std::tuple of those;
  // operations alone give nothing.
  template <detail::run_argument... Arguments>
  auto run(const Arguments&... arguments) {
    constexpr std::size_t n_feeds = (std::size_t{0} + ... + detail::is_feed<Arguments>);
    int fetches[sizeof...(Arguments) - n_feeds + 1], feeds[n_feeds + 1];
    detail::borrowed data[n_feeds + 1];
    int fetched = 0, fed = 0;
    const auto sort = [&]<class A>(const A& a) {
      if constexpr (detail::is_feed<A>) {
        feeds[fed] = node_of(a);
        data[fed++] = a.data;
      } else {
        fetches[fetched++] = check_handle(a);
      }
    };
    (sort(arguments), ...);
    detail::prepared_step& step = prepared<>({fetches, fetched}, {feeds, fed});
    using values = decltype(std::tuple_cat(std::declval<typename detail::asked<Arguments>::type>()...));
    return detail::collect_values<values>([&](const auto& take) { engine_.run(step, graph_.view(), data, take); });
  }

  // A handle by name: auto loss = s.find<float>("loss"). Throws name_error, or graph_error if it is something else.
  template <class T, auto... E>
  tensor<T, detail::canonical<E>()...> find(std::string_view name) {
    using result = tensor<T, detail::canonical<E>()...>;
    const int id = node_of_name(name);
    const node& n = graph_.nodes[id];
    if (n.type != detail::dtype_of<T> || graph_.shapes[n.shape].hash != result::shape.hash || n.type == dtype::none)
      throw graph_error(problem::invalid_graph, fmt::format("\"{}\" is {}, not {}", name, described(id),
                                                            detail::shape_to_text(detail::dtype_of<T>, result::shape)));
    return {&graph_, id};
  }
  operation find_operation(std::string_view name) {
    const int id = node_of_name(name);
    if (graph_.nodes[id].type != dtype::none)
      throw graph_error(problem::invalid_graph, fmt::format("\"{}\" is {}, not an operation", name, described(id)));
    return {&graph_, id};
  }

  // A variable's value. Waits for steps that are changing state.
  template <any_variable V>
  auto get(const V& variable) {
    using array = typename detail::shaped<ndarray, element_t<V>, tensor_t<V>>::type;
    std::optional<array> result;
    engine_.add_variables(graph_.view());
    engine_.read(check_handle(variable), [&](const detail::variable_state& v) {
      result = detail::copy_value<array>({v.data.get(), v.dims.data(), static_cast<int>(v.dims.size()), v.type});
    });
    return *std::move(result);
  }
  template <any_variable V, feedable D>
  void set(const V& variable, const D& data) {
    const auto checked = feed(variable, data);
    engine_.add_variables(graph_.view());
    engine_.write(check_handle(variable),
                  [&](detail::variable_state& v) { detail::assign_variable(graph_.view(), v, checked.data); });
  }
  // All variables begin again, with this seed.
  void initialize(std::uint64_t seed) {
    engine_.add_variables(graph_.view());
    engine_.initialize(graph_.view(), seed);
  }

 private:
  template <class Handle>
  int check_handle(const Handle& h) const {
    if (h.graph != &graph_ || h.id < 0 || h.id >= graph_.size())
      throw graph_error(problem::different_graphs, "run: a handle belongs to another graph than the session's");
    return h.id;
  }
  int node_of_name(std::string_view name) const {
    const int id = graph_.view().find(name);
    if (id < 0)
      throw name_error(problem::unknown_name, fmt::format("\"{}\": {}{}", name, sentence(problem::unknown_name),
                                                          detail::near_names(graph_.view(), name)));
    return id;
  }
  std::string described(int id) const {
    if (graph_.nodes[id].type == dtype::none) return "an operation";
    return detail::type_text(graph_.view(), id);
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
    const std::lock_guard lock(mutex_);
    for (const auto& p : planned_)
      if (same(p->fetches, fetches) && same(p->feeds, feeds)) return *p->step;
    auto made = std::make_unique<detail::planned_step>();
    made->fetches.assign(fetches.begin(), fetches.end());
    made->feeds.assign(feeds.begin(), feeds.end());
    made->plan = passes::plan(graph_.view(), {fetches, feeds}, detail::local_device_list);
    if (made->plan.fault.why != problem::none) refuse(made->plan.fault);
    engine_.add_variables(graph_.view());
    made->step =
        std::make_unique<detail::prepared_step>(made->plan.view(), graph_.view(), &detail::find_kernel<Kernels>);
    planned_.push_back(std::move(made));
    return *planned_.back()->step;
  }
  static bool same(const std::vector<int>& a, detail::slice<int> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  [[noreturn]] void refuse(const plan_fault& fault) const {
    const graph_view g = graph_.view();
    std::string message(sentence(fault.why));
    if (fault.node >= 0) {
      message = fmt::format("{}: {}", detail::label_of(g, fault.node), message);
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

  graph_data& graph_;
  detail::engine engine_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<detail::planned_step>> planned_;
};

}  // namespace flowgraph
