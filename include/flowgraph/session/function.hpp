// fg::function<model, "out">: a model that is called as a C++ function is. Its arguments are the placeholders that the
// outputs need, in the order in which the model makes them; or feeds by name, in any order.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "session.hpp"

namespace flowgraph {

// What a call gave, in a diagnostic.
template <class... Types>
struct arguments;

namespace detail {

// The placeholders that these nodes need.
template <const auto& Model, int... Output>
struct function_inputs {
  static constexpr passes::draft pruned() {
    constexpr int fetches[] = {Output..., 0};
    return passes::prune(Model.view(), {{fetches, sizeof...(Output)}, {}}, true);
  }
  static constexpr int count = pruned().feeds.size();
  struct table {
    int node[count + 1]{};
  };
  static constexpr table all = [] {
    table t;
    const passes::draft d = pruned();
    for (int i = 0; i < count; ++i) t.node[i] = d.model[d.feeds[i]];
    return t;
  }();
};

}  // namespace detail

template <const auto& Model, fixed_string... Outputs>
class function {
 public:
  // With variables of its own, as they begin.
  explicit function(const session_options& options = {})
      : own_(std::make_unique<session<Model>>(options)),
        session_(own_.get()) {}
  // With the variables of a session, which must outlive the function: what is trained there is used here.
  explicit function(session<Model>& shared) : session_(&shared) {}

  // auto logits = f(images); or f(fg::feed<"x">(images)). One output gives an fg::ndarray, or a number for a scalar;
  // several give a std::tuple of those.
  template <class... A>
  auto operator()(const A&... given) const {
    if constexpr (!detail::constant_model<Model>) {
      return detail::after_mistake{};
    } else if constexpr (!detail::check_names<Model, detail::name_use::fetch, Outputs...>()) {
      return detail::after_mistake{};
    } else {
      using inputs = detail::function_inputs<Model, Model.view().find(Outputs.view())...>;
      constexpr bool by_name = sizeof...(A) > 0 && (detail::named_feed_argument<A> && ...);
      if constexpr (by_name)
        return session_->template run<Outputs...>(given...);
      else
        return by_position<inputs>(std::make_index_sequence<inputs::count>{}, given...);
    }
  }

 private:
  template <int Node, class D>
  using fed = detail::named_feed<detail::node_label<Model, Node>(), D>;

  template <class Inputs, std::size_t... I, class... A>
  auto by_position(std::index_sequence<I...>, const A&... given) const {
    constexpr bool fit = sizeof...(A) == Inputs::count && (feedable<A> && ...);
    if constexpr (!fit) {
      detail::mistake<problem::function_arguments, arguments<A...>,
                      required<arguments<detail::node_tensor<Model, Inputs::all.node[I]>...>>>();
      return detail::after_mistake{};
    } else if constexpr (!detail::check_feeds<Model, fed<Inputs::all.node[I], A>...>()) {
      return detail::after_mistake{};
    } else {
      return session_->template run<Outputs...>(fed<Inputs::all.node[I], A>(given)...);
    }
  }

  std::unique_ptr<session<Model>> own_;
  session<Model>* session_;
};

}  // namespace flowgraph
