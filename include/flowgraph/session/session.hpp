// fg::session<model>: runs a constexpr model. Every signature of run<...> has its plan made by the compiler, and names,
// feeds, types and kernels are checked by it; what is left for the program is numbers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/language/near_name.hpp>
#include "engine_here.hpp"
#include "future.hpp"
#include "planned_call.hpp"
#include "put_values.hpp"
#include "resource_handles.hpp"
#include "resources.hpp"
#include "session_access.hpp"
#include "static_kernels.hpp"
#include "variables.hpp"

namespace flowgraph {

namespace detail {

template <class Feed>
concept named_feed_argument = requires { typename feed_parts<Feed>::data; };

// The label of a node in a diagnostic: its name, or its op's.
template <const auto& Model, int Node>
constexpr auto node_label() {
  constexpr std::string_view name = Model.view().name_of(Node);
  constexpr std::string_view text = name.empty() ? Model.view().nodes[Node].op->name : name;
  return to_fixed<text.size()>(text);
}

// What a name is asked for, so that others are not suggested.
enum class name_use { fetch, feed, state };

template <name_use For>
constexpr bool may_be(const graph_view& g, int node) {
  switch (For) {
    case name_use::fetch:
      return g.nodes[node].op->id != ops::placeholder::id;
    case name_use::feed:
      return g.nodes[node].op->id == ops::placeholder::id;
    case name_use::state:
      return g.nodes[node].op->id == ops::variable::id || g.nodes[node].op->is(trait::waits);
  }
  return false;
}

template <const auto& Model, fixed_string Name, name_use For>
constexpr bool check_name() {
  constexpr bool known = Model.view().find(Name.view()) >= 0;
  if constexpr (!known && !Model.failed) {
    constexpr int near = near_node(Model.view(), Name.view(), [](int node) { return may_be<For>(Model.view(), node); });
    if constexpr (near >= 0)
      mistake<problem::unknown_name, named<Name>, did_you_mean<node_label<Model, near>()>>();
    else
      mistake<problem::unknown_name, named<Name>>();
  }
  return known;
}

// The node of this name, or of the name that is near.
template <const auto& Model, fixed_string Name, name_use For>
constexpr int meant_node() {
  constexpr int node = Model.view().find(Name.view());
  if constexpr (node >= 0)
    return node;
  else
    return near_node(Model.view(), Name.view(), [](int n) { return may_be<For>(Model.view(), n); });
}

// What run gives after a mistake that the compiler has reported: what it would have given without, if that is known.
template <const auto& Model, fixed_string... Fetch>
constexpr auto result_after_mistake() {
  if constexpr (((meant_node<Model, Fetch, name_use::fetch>() >= 0) && ...)) {
    using values = collected<fetched_tuple<Model, meant_node<Model, Fetch, name_use::fetch>()...>>;
    if constexpr (std::is_void_v<values>)
      return std::type_identity<after_mistake>{};
    else
      return std::type_identity<values>{};
  } else {
    return std::type_identity<after_mistake>{};
  }
}

// Stops at the first unknown one.
template <const auto& Model, name_use For>
constexpr bool check_names() {
  return true;
}
template <const auto& Model, name_use For, fixed_string First, fixed_string... Rest>
constexpr bool check_names() {
  if constexpr (Model.view().find(First.view()) < 0)
    return check_name<Model, First, For>();
  else
    return check_names<Model, For, Rest...>();
}

template <const auto& Model, int Node, fixed_string Name, class D>
constexpr bool check_data() {
  constexpr feed_fit fit = fits(data_layout_of<D>(), node_type<Model, Node>, node_shape<Model, Node>::shape);
  if constexpr (fit == feed_fit::wrong_type)
    mistake<problem::feed_dtype, named<Name>, D, required<node_tensor<Model, Node>>>();
  if constexpr (fit == feed_fit::wrong_extents)
    mistake<problem::feed_extents, named<Name>, D, required<node_tensor<Model, Node>>>();
  return fit == feed_fit::ok;
}

template <const auto& Model>
constexpr bool check_feeds() {
  return true;
}
template <const auto& Model, class First, class... Rest>
constexpr bool check_feeds() {
  constexpr int node = Model.view().find(feed_parts<First>::name.view());
  constexpr bool ok = check_data<Model, node, feed_parts<First>::name, typename feed_parts<First>::data>();
  if constexpr (!ok)
    return false;
  else
    return check_feeds<Model, Rest...>();
}

template <const auto& Model, class Plan>
constexpr bool check_plan() {
  constexpr plan_fault fault = Plan::plan.fault;
  if constexpr (fault.why == problem::nothing_fetched || fault.why == problem::model_too_large) {
    mistake<fault.why>();
    return false;
  } else if constexpr (fault.why == problem::no_device) {
    constexpr std::string_view device = Model.view().device(fault.node);
    mistake<fault.why, named<node_label<Model, fault.node>()>, required<named<to_fixed<device.size()>(device)>>>();
    return false;
  } else if constexpr (fault.why == problem::extent_unknown) {
    mistake<fault.why, named<node_label<Model, fault.node>()>, node_tensor<Model, fault.node>>();
    return false;
  } else if constexpr (fault.why != problem::none) {
    mistake<fault.why, named<node_label<Model, fault.node>()>>();
    return false;
  } else {
    return true;
  }
}

template <class Kernels>
constexpr bool check_kernels() {
  constexpr kernel_use use = Kernels::missing;
  if constexpr (use.op != 0) {
    constexpr std::string_view name = op_by_id<use.op>::name;
    constexpr dtype type = use.in[0] == dtype::none ? use.out : use.in[0];
    mistake<kernel_problem<op_by_id<use.op>, type_of<type>>(), op_named<to_fixed<name.size()>(name)>, type_of<type>>();
  }
  return use.op == 0;
}

constexpr bool declares_resources(const graph_view& g) {
  for (const node& n : g.nodes)
    if (n.op->is(trait::waits)) return true;
  return false;
}

// Can the compiler read it? An object that is only const, or neither, it can't.
template <const auto& Model>
concept constant_model = requires { typename constant_bool<Model.view().nodes.data[0].n_attrs == 0>; };

// All that run<...> says; false after a mistake.
template <const auto& Model, fixed_string... Fetch, class... Feeds>
constexpr bool check_run(std::type_identity<Feeds>...) {
  if constexpr (sizeof...(Fetch) == 0) {
    mistake<sizeof...(Fetch) == 0 ? problem::nothing_fetched : problem::none>();
    return false;
  } else if constexpr (!check_names<Model, name_use::fetch, Fetch...>()) {
    return false;
  } else if constexpr (!check_names<Model, name_use::feed, feed_parts<Feeds>::name...>()) {
    return false;
  } else if constexpr (Model.failed) {
    return false;
  } else {
    using plan = typename call_of<Model, std::tuple<Feeds...>, Fetch...>::plan;
    if constexpr (!check_plan<Model, plan>())
      return false;
    else if constexpr (!check_feeds<Model, Feeds...>())
      return false;
    else
      return check_kernels<static_kernels<plan>>();
  }
}

// What run is given and is no feed.
template <class... X>
concept not_feeds_alone = !((named_feed_argument<X> || std::is_same_v<X, limits>)&&...);

template <bool Text, class First, class... Rest>
constexpr auto refuse_argument_of_run() {
  if constexpr (named_feed_argument<First> || std::is_same_v<First, limits>)
    refuse_argument_of_run<false, Rest...>();
  else if constexpr (Text && text_argument<First>)
    mistake<problem::run_fetch_name, First>();
  else if constexpr (is_feed<First>)
    mistake<problem::run_feed_name, First>();
  else
    mistake<problem::run_argument, First>();
}

// What is said of a call of run with these; it gives anything.
template <std::size_t Fetches, class... X>
constexpr auto refuse_run() {
  if constexpr (!(std::is_same_v<X, unknown_feed> || ...)) refuse_argument_of_run<Fetches == 0, X...>();
  return after_mistake{};
}

}  // namespace detail

// May be moved, not copied; one that was moved from refuses all calls, with argument_error. run, get, set, initialize
// and profile may be called on any number of threads at once.
// On several devices: fg::session<fg::on_devices<model, "/cpu:0", "/cpu:1">>.
template <const auto& Model>
class session {
 public:
  explicit session(const session_options& options = {}) {
    detail::require_same_devices(options.devices, detail::devices_of<Model>());
    detail::resource_finder find = nullptr;
    if constexpr (detail::declares_resources(Model.view())) find = &detail::find_resource;
    engine_ = detail::engine_handle(detail::make_engine(options, graph, find));
  }

  // One step: float loss = s.run<"loss", "train">(fg::feed<"x">(images), fg::feed<"y">(labels));
  // One fetch with a value gives an fg::ndarray, or a number for a scalar; several give a std::tuple of those;
  // operations alone give nothing.
  template <fixed_string... Fetch, detail::named_feed_argument... Feeds>
  auto run(const Feeds&... feeds) {
    return run_step<Fetch...>(nullptr, no_targets{}, feeds...);
  }
  // A step that ends with cancelled_error or deadline_error when it is not done in time:
  // s.run<"loss">(fg::within(50ms), fg::feed<"x">(images)).
  template <fixed_string... Fetch, detail::named_feed_argument... Feeds>
  auto run(const limits& within, const Feeds&... feeds) {
    return run_step<Fetch...>(&within, no_targets{}, feeds...);
  }
  // A step without a thread of the caller's: an fg::future of what run gives. Feeds are copied. It runs on the
  // session's threads, and while it waits for a queue, a mutex or a barrier it needs none.
  template <fixed_string... Fetch, detail::named_feed_argument... Feeds>
  auto run_async(const Feeds&... feeds) {
    return begin_step<Fetch...>(nullptr, feeds...);
  }
  template <fixed_string... Fetch, detail::named_feed_argument... Feeds>
  auto run_async(const limits& within, const Feeds&... feeds) {
    return begin_step<Fetch...>(&within, feeds...);
  }
  // Values go where the caller says, so that nothing is allocated: s.run_into<"logits">(out, feeds...), and for several
  // values s.run_into<"loss", "logits">(std::tie(loss, out), feeds...). An array of other extents gets new ones.
  template <fixed_string... Fetch, class Target, detail::named_feed_argument... Feeds>
  void run_into(Target&& target, const Feeds&... feeds) {
    run_step<Fetch...>(nullptr, detail::targets_of(target), feeds...);
  }
  template <fixed_string... Fetch, class Target, detail::named_feed_argument... Feeds>
  void run_into(const limits& within, Target&& target, const Feeds&... feeds) {
    run_step<Fetch...>(&within, detail::targets_of(target), feeds...);
  }

  // How such a step runs: a line for each instruction with its node, op and shape, and whose kernel computes it.
  // Nothing runs; the feeds only say how large everything is.
  template <fixed_string... Fetch, detail::named_feed_argument... Feeds>
  std::string plan_text(const Feeds&... feeds) {
    if constexpr (!detail::check_run<Model, Fetch...>(std::type_identity<Feeds>{}...)) {
      return detail::after_mistake{};
    } else {
      const detail::ordered_data<call<std::tuple<Feeds...>, Fetch...>, Feeds...> data(feeds...);
      detail::engine& e = *engine_;
      return detail::plan_text(e, step_of<Fetch...>(e, feeds...), graph, {data.of, nullptr});
    }
  }

  // A variable's value. Waits for steps that are changing it.
  template <fixed_string Name>
  auto get() {
    if constexpr (!is_variable<Name>()) {
      constexpr int meant = detail::meant_node<Model, Name, detail::name_use::state>();
      if constexpr (meant < 0 || Model.view().nodes[meant < 0 ? 0 : meant].type == dtype::none)
        return detail::after_mistake{};
      else
        return detail::after_mistake::as<detail::node_array<Model, meant>>();
    } else {
      return detail::copy_variable<detail::node_array<Model, node<Name>>>(*engine_, graph, node<Name>);
    }
  }
  template <fixed_string Name, feedable D>
  void set(const D& data) {
    if constexpr (is_variable<Name>()) {
      if constexpr (detail::check_data<Model, node<Name>, Name, std::remove_cvref_t<D>>())
        detail::write_variable(*engine_, graph, node<Name>, detail::lent<D>(data).data);
    }
  }
  // Numbers in braces, and rows of them.
  template <fixed_string Name, element T, std::size_t N>
  void set(T (&&data)[N]) {
    set<Name, T[N]>(data);
  }
  template <fixed_string Name, element T, std::size_t Rows, std::size_t N>
  void set(T (&&data)[Rows][N]) {
    set<Name, T[Rows][N]>(data);
  }
  // Calls that fit none of these.
  template <fixed_string... Fetch, class... X>
    requires detail::not_feeds_alone<X...>
  auto run(const X&...) {
    return detail::refuse_run<sizeof...(Fetch), X...>();
  }
  template <fixed_string... Fetch, class... X>
    requires detail::not_feeds_alone<X...>
  auto run_async(const X&...) {
    return detail::refuse_run<sizeof...(Fetch), X...>();
  }
  template <detail::nothing_stated = detail::nothing_stated{}, class... X>
  auto get(const X&...) {
    detail::mistake<problem::run_fetch_name, X...>();
    return detail::after_mistake{};
  }
  template <detail::nothing_stated = detail::nothing_stated{}, class... X>
  auto set(const X&...) {
    detail::mistake<problem::run_fetch_name, X...>();
  }
  template <fixed_string Name, class D>
    requires(!feedable<D>)
  auto set(const D&) {
    detail::refuse_data<D>();
  }
  template <fixed_string Name, class... X>
    requires(sizeof...(X) != 1)
  auto set(const X&...) {
    detail::mistake<problem::run_fetch_name, X...>();
  }
  template <fixed_string Name, class X, class... More>
  auto get(const X&, const More&...) {
    detail::mistake<problem::run_fetch_name, X, More...>();
    return detail::after_mistake{};
  }

  // All variables begin again, with this seed.
  void initialize(std::uint64_t seed) { detail::initialize(*engine_, graph, seed); }

  // A queue, mutex or barrier of the model, for use from C++: s.queue<"examples">().enqueue(image, label).
  template <fixed_string Name>
  auto queue() {
    if constexpr (is_resource<Name, ops::queue>()) {
      using handle = typename detail::declared_queue<Model, node<Name>>::handle;
      return handle(detail::resource_of(*engine_, graph, node<Name>));
    } else {
      return detail::after_mistake{};
    }
  }
  template <fixed_string Name>
  auto mutex() {
    if constexpr (is_resource<Name, ops::mutex>())
      return mutex_handle(detail::resource_of(*engine_, graph, node<Name>));
    else
      return detail::after_mistake{};
  }
  template <fixed_string Name>
  auto barrier() {
    if constexpr (is_resource<Name, ops::barrier>())
      return barrier_handle(detail::resource_of(*engine_, graph, node<Name>));
    else
      return detail::after_mistake{};
  }

  // The last steps, as many as options.profile says, oldest first.
  std::vector<step_profile> profile() const { return detail::profile_of(*engine_); }

 private:
  friend detail::session_access;

  // The model as the program keeps it.
  static constexpr graph_view graph = detail::running_model<Model>::value.view();
  static constexpr const graph_view& view() { return graph; }

  template <fixed_string Name>
  static constexpr int node = Model.view().find(Name.view());

  template <fixed_string Name>
  static constexpr bool is_variable() {
    if constexpr (!detail::check_name<Model, Name, detail::name_use::state>()) {
      return false;
    } else {
      constexpr bool yes = Model.view().nodes[node<Name>].op->id == ops::variable::id;
      if constexpr (!yes) detail::mistake<problem::not_a_variable, named<Name>>();
      return yes;
    }
  }

  template <fixed_string Name, class Op>
  static constexpr bool is_resource() {
    if constexpr (!detail::check_name<Model, Name, detail::name_use::state>()) {
      return false;
    } else {
      constexpr bool yes = Model.view().nodes[node<Name>].op->id == Op::id;
      if constexpr (!yes) detail::mistake<problem::not_a_resource, named<Name>>();
      return yes;
    }
  }

  struct no_targets {};  // values are returned

  template <fixed_string... Fetch, class Targets, class... Feeds>
  auto run_step(const limits* within, const Targets& targets, const Feeds&... feeds) {
    if constexpr (!detail::check_run<Model, Fetch...>(std::type_identity<Feeds>{}...)) {
      return detail::after_mistake::as<typename decltype(detail::result_after_mistake<Model, Fetch...>())::type>();
    } else {
      using values = detail::fetched_tuple<Model, node<Fetch>...>;
      detail::engine& e = *engine_;
      const detail::ordered_data<call<std::tuple<Feeds...>, Fetch...>, Feeds...> data(feeds...);
      if constexpr (std::is_same_v<Targets, no_targets>)
        return detail::run_for_values<values>(e, step_of<Fetch...>(e, feeds...), graph, {data.of, within});
      else if constexpr (detail::target_check<Targets, values>::check())
        detail::run(e, step_of<Fetch...>(e, feeds...), graph, {data.of, within},
                    [&](const detail::step_values& done) { detail::put_values(done, targets); });
    }
  }

  template <fixed_string... Fetch, class... Feeds>
  auto begin_step(const limits* within, const Feeds&... feeds) {
    if constexpr (!detail::check_run<Model, Fetch...>(std::type_identity<Feeds>{}...)) {
      return detail::after_mistake{};
    } else {
      using values = detail::fetched_tuple<Model, node<Fetch>...>;
      detail::engine& e = *engine_;
      const detail::ordered_data<call<std::tuple<Feeds...>, Fetch...>, Feeds...> data(feeds...);
      return detail::start_for_values<values>(e, step_of<Fetch...>(e, feeds...), graph, {data.of, within});
    }
  }

  template <class Feeds, fixed_string... Fetch>
  using call = detail::call_of<Model, Feeds, Fetch...>;

  template <fixed_string... Fetch, class... Feeds>
  static detail::prepared_step& step_of(detail::engine& e, const Feeds&...) {
    return detail::prepare(e, detail::static_step<Model, typename call<std::tuple<Feeds...>, Fetch...>::plan>);
  }

  detail::engine_handle engine_;
};

// Of a model that is no constant: says so, once.
template <const auto& Model>
  requires(!detail::constant_model<Model>)
class session<Model> {
  using told = decltype(detail::mistake<problem::model_not_constant, std::remove_cvref_t<decltype(Model)>>());

 public:
  explicit session(const session_options& = {}) {}
  template <fixed_string... Fetch, class... Arguments>
  detail::after_mistake run(const Arguments&...) {
    return {};
  }
  template <fixed_string... Fetch, class... Arguments>
  detail::after_mistake run_async(const Arguments&...) {
    return {};
  }
  template <fixed_string... Fetch, class... Arguments>
  void run_into(Arguments&&...) {}
  template <fixed_string... Fetch, class... Arguments>
  std::string plan_text(const Arguments&...) {
    return {};
  }
  template <fixed_string Name>
  detail::after_mistake get() {
    return {};
  }
  template <fixed_string Name, class Data>
  void set(const Data&) {}
  void initialize(std::uint64_t) {}
  std::vector<step_profile> profile() const { return {}; }
};

}  // namespace flowgraph
