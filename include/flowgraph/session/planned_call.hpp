// From a call of run<...> to the plan that serves it: signatures that differ only in order have one, so that the
// compiler plans it once and the program prepares it once.
#pragma once
#include <cstddef>
#include <tuple>
#include <utility>

#include "feed.hpp"
#include "static_step.hpp"

namespace flowgraph::detail {

template <class Feed>
struct feed_parts;
template <fixed_string Name, class D, bool Owned>
struct feed_parts<named_feed<Name, D, Owned>> {
  static constexpr const auto& name = Name;
  using data = D;
};

// Some nodes in another order: first those that keep their places among each other, then the others as the model has
// them.
template <int N>
struct node_order {
  int node[N + 1]{};
  int place[N + 1]{};  // of the caller's k-th: where it stands
};
template <std::size_t N>
constexpr auto in_order(const int (&nodes)[N], const bool (&keeps_place)[N]) {
  constexpr int n = static_cast<int>(N) - 1;  // the last one is there for lists that are empty
  const auto before = [&](int a, int b) { return !keeps_place[b] && (keeps_place[a] || nodes[a] < nodes[b]); };
  int from[N]{};
  for (int k = 0; k < n; ++k) {
    int at = k;
    for (; at > 0 && before(k, from[at - 1]); --at) from[at] = from[at - 1];
    from[at] = k;
  }
  node_order<n> o;
  for (int i = 0; i < n; ++i) o.node[i] = nodes[from[i]], o.place[from[i]] = i;
  return o;
}
// Values come as the caller names them, operations have none. Feeds are told apart by node.
template <const auto& Model, int... Fetch>
inline constexpr auto fetch_order = in_order({Fetch..., 0}, {node_type<Model, Fetch> != dtype::none..., true});
template <int... Fed>
inline constexpr auto feed_order = in_order({Fed..., 0}, {(Fed < 0)..., true});

template <const auto& Order, class Indices>
struct ordered_nodes;
template <const auto& Order, int... I>
struct ordered_nodes<Order, std::integer_sequence<int, I...>> {
  using type = node_list<Order.node[I]...>;
};

template <const auto& Model, class Fetches, class Feeds>
struct planned_call;
template <const auto& Model, int... Fetch, int... Fed>
struct planned_call<Model, node_list<Fetch...>, node_list<Fed...>> {
  static constexpr const auto& feeds = feed_order<Fed...>;
  using plan = static_plan<
      Model,
      typename ordered_nodes<fetch_order<Model, Fetch...>, std::make_integer_sequence<int, sizeof...(Fetch)>>::type,
      typename ordered_nodes<feed_order<Fed...>, std::make_integer_sequence<int, sizeof...(Fed)>>::type>;
};
template <const auto& Model, class Feeds, fixed_string... Fetch>
struct call_of;
template <const auto& Model, class... Feeds, fixed_string... Fetch>
struct call_of<Model, std::tuple<Feeds...>, Fetch...>
    : planned_call<Model, node_list<Model.view().find(Fetch.view())...>,
                   node_list<Model.view().find(feed_parts<Feeds>::name.view())...>> {};

// What feeds hold, in the plan's order.
template <class Call, class... Feeds>
struct ordered_data {
  const borrowed* of[sizeof...(Feeds) + 1]{};
  explicit ordered_data(const Feeds&... feeds) {
    int k = 0;
    ((of[Call::feeds.place[k++]] = &feeds.data), ...);
  }
};

}  // namespace flowgraph::detail
