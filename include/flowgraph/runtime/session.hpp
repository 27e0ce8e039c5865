// fg::session<model>: runs a constexpr model. Every signature of run<...> has its plan made by the compiler, and names,
// feeds, types and kernels are checked by it; what is left for the program is numbers.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <flowgraph/kernels/cpu/all.hpp>
#include "engine.hpp"
#include "static_step.hpp"

namespace flowgraph {

namespace detail {

template <class Feed>
struct feed_parts;
template <fixed_string Name, class D>
struct feed_parts<named_feed<Name, D>> {
  static constexpr const auto& name = Name;
  using data = D;
};
template <class Feed>
concept named_feed_argument = requires { typename feed_parts<Feed>::data; };

// The label of a node in a diagnostic: its name, or its op's.
template <const auto& Model, int Node>
constexpr auto node_label() {
  constexpr std::string_view name = Model.view().name_of(Node);
  constexpr std::string_view text = name.empty() ? Model.view().nodes[Node].op->name : name;
  return to_fixed<text.size()>(text);
}

template <const auto& Model, fixed_string Name>
constexpr bool check_name() {
  constexpr bool known = Model.view().find(Name.view()) >= 0;
  if constexpr (!known) mistake<problem::unknown_name, named<Name>>();
  return known;
}

// Stops at the first unknown one.
template <const auto& Model>
constexpr bool check_names() {
  return true;
}
template <const auto& Model, fixed_string First, fixed_string... Rest>
constexpr bool check_names() {
  if constexpr (Model.view().find(First.view()) < 0)
    return check_name<Model, First>();
  else
    return check_names<Model, Rest...>();
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
  if constexpr (fault.why == problem::nothing_fetched) {
    mistake<fault.why>();
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
  if constexpr (Kernels::first_missing >= 0) {
    constexpr kernel_use use = Kernels::uses.use[Kernels::first_missing];
    constexpr std::string_view name = op_by_id<use.op>::name;
    constexpr dtype type = use.in[0] == dtype::none ? use.out : use.in[0];
    mistake<problem::no_kernel, op_named<to_fixed<name.size()>(name)>, type_of<type>>();
  }
  return Kernels::first_missing < 0;
}

// All that run<...> says; false after a mistake.
template <const auto& Model, fixed_string... Fetch, class... Feeds>
constexpr bool check_run(std::type_identity<Feeds>...) {
  if constexpr (sizeof...(Fetch) == 0) {
    mistake<sizeof...(Fetch) == 0 ? problem::nothing_fetched : problem::none>();
    return false;
  } else if constexpr (!check_names<Model, Fetch..., feed_parts<Feeds>::name...>()) {
    return false;
  } else {
    using plan = static_plan<Model, node_list<Model.view().find(Fetch.view())...>,
                             node_list<Model.view().find(feed_parts<Feeds>::name.view())...>>;
    if constexpr (!check_plan<Model, plan>())
      return false;
    else if constexpr (!check_feeds<Model, Feeds...>())
      return false;
    else
      return check_kernels<static_kernels<plan>>();
  }
}

}  // namespace detail

template <const auto& Model>
class session {
 public:
  explicit session(const session_options& options = {}) : engine_(options) { engine_.add_variables(Model.view()); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // One step: float loss = s.run<"loss", "train">(fg::feed<"x">(images), fg::feed<"y">(labels));
  // One fetch with a value gives an fg::ndarray, or a number for a scalar; several give a std::tuple of those;
  // operations alone give nothing.
  template <fixed_string... Fetch, detail::named_feed_argument... Feeds>
  auto run(const Feeds&... feeds) {
    if constexpr (!detail::check_run<Model, Fetch...>(std::type_identity<Feeds>{}...)) {
      return detail::after_mistake{};
    } else {
      using plan = detail::static_plan<Model, detail::node_list<node<Fetch>...>,
                                       detail::node_list<node<detail::feed_parts<Feeds>::name>...>>;
      const detail::borrowed data[] = {feeds.data..., {}};
      detail::prepared_step& step = prepared<plan>();
      return detail::collect_values<detail::fetched_tuple<Model, node<Fetch>...>>(
          [&](const auto& take) { engine_.run(step, Model.view(), data, take); });
    }
  }

  // A variable's value. Waits for steps that are changing state.
  template <fixed_string Name>
  auto get() {
    if constexpr (!is_variable<Name>()) {
      return detail::after_mistake{};
    } else {
      std::optional<detail::node_array<Model, node<Name>>> result;
      engine_.read(node<Name>, [&](const detail::variable_state& v) {
        result = detail::copy_value<detail::node_array<Model, node<Name>>>(
            {v.data.get(), v.dims.data(), static_cast<int>(v.dims.size()), v.type});
      });
      return *std::move(result);
    }
  }
  template <fixed_string Name, feedable D>
  void set(const D& data) {
    if constexpr (is_variable<Name>()) {
      if constexpr (detail::check_data<Model, node<Name>, Name, std::remove_cvref_t<D>>())
        engine_.write(node<Name>, [&](detail::variable_state& v) {
          detail::assign_variable(Model.view(), v, detail::borrow(data));
        });
    }
  }
  // All variables begin again, with this seed.
  void initialize(std::uint64_t seed) { engine_.initialize(Model.view(), seed); }

 private:
  template <fixed_string Name>
  static constexpr int node = Model.view().find(Name.view());

  template <fixed_string Name>
  static constexpr bool is_variable() {
    if constexpr (!detail::check_name<Model, Name>()) {
      return false;
    } else {
      constexpr bool yes = Model.view().nodes[node<Name>].op->id == ops::variable::id;
      if constexpr (!yes) detail::mistake<problem::not_a_variable, named<Name>>();
      return yes;
    }
  }

  template <class Plan>
  detail::prepared_step& prepared() {
    const std::lock_guard lock(mutex_);
    for (const auto& [tag, step] : steps_)
      if (tag == &Plan::plan) return *step;
    steps_.emplace_back(&Plan::plan, std::make_unique<detail::prepared_step>(Plan::plan.view(), Model.view(),
                                                                             &detail::static_kernels<Plan>::resolve));
    return *steps_.back().second;
  }

  detail::engine engine_;
  std::mutex mutex_;
  std::vector<std::pair<const void*, std::unique_ptr<detail::prepared_step>>> steps_;
};

}  // namespace flowgraph
