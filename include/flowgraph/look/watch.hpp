// fg::debug::watch: tensors that are shown whenever a step runs, without a change to the model.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/is_tuple.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/language/tensor.hpp>
#include <flowgraph/session/session.hpp>

namespace flowgraph::debug {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void show_value(std::string_view name, const flowgraph::detail::borrowed& value);
// What a node of a graph is called, without quotation marks.
FLOWGRAPH_OTHER_HALF std::string label_of_node(const graph_view& g, int node);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// Shows a value on the standard error stream: "h" [32, 10] -1.5 to 3.2: 0.1 0.2 ...
struct print_value {
  template <class T>
  void operator()(std::string_view name, const T& value) const {
    detail::show_value(name, flowgraph::detail::lent<T>(value).data);
  }
};

namespace detail {

// All values of a run as a tuple, whatever it gave.
template <class Run>
auto tuple_of(const Run& run) {
  using given = decltype(run());
  if constexpr (flowgraph::detail::is_tuple<given>)
    return run();
  else
    return std::tuple<given>(run());
}

// Shows the last values of a run, as many as there are names, and gives the others as run does: none, one alone,
// several as a tuple. name(k): of the k-th watched one.
template <std::size_t Watched, class Run, class Name, class Show>
auto show_last(const Run& run, const Name& name, Show& show) {
  auto all = tuple_of(run);
  constexpr std::size_t count = std::tuple_size_v<decltype(all)>;
  if constexpr (std::is_same_v<decltype(run()), flowgraph::detail::after_mistake>) {
    return run();
  } else {
    static_assert(count >= Watched, "watch: an operation has no value to show");
    constexpr std::size_t fetched = count < Watched ? 0 : count - Watched;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (show(name(std::integral_constant<std::size_t, I>{}), std::get<fetched + I>(all)), ...);
    }(std::make_index_sequence<count - fetched>{});
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (fetched == 1)
        return std::move(std::get<0>(all));
      else if constexpr (fetched > 1)
        return std::tuple(std::move(std::get<I>(all))...);
    }(std::make_index_sequence<fetched>{});
  }
}

}  // namespace detail

// Runs steps of a session and shows some tensors of each.
template <class Session, class Show, fixed_string... Names>
class watched {
 public:
  watched(Session& s, Show show) : session_(s), show_(std::move(show)) {}

  // As the session's run; show(name, value) is called for each watched tensor before it returns. They are computed in
  // these steps even where the fetches don't need them, and keep what they are from being fused with what reads them.
  template <fixed_string... Fetch, class... Feeds>
  auto run(const Feeds&... feeds) {
    constexpr std::string_view names[] = {Names.view()...};
    return detail::show_last<sizeof...(Names)>([&] { return session_.template run<Fetch..., Names...>(feeds...); },
                                               [&](auto k) { return names[k]; }, show_);
  }

 private:
  Session& session_;
  Show show_;
};

// The same of a graph that was built when the program ran, by handles.
template <class Session, class Show, any_tensor... Tensors>
class watched_tensors {
 public:
  watched_tensors(Session& s, Show show, const Tensors&... tensors)
      : session_(s),
        show_(std::move(show)),
        tensors_(tensors...) {}

  template <class... Arguments>
  auto run(const Arguments&... arguments) {
    return std::apply(
        [&](const Tensors&... tensors) {
          const std::string names[] = {detail::label_of_node(tensors.graph->view(), tensors.id)...};
          return detail::show_last<sizeof...(Tensors)>([&] { return session_.run(arguments..., tensors...); },
                                                       [&](auto k) { return std::string_view(names[k]); }, show_);
        },
        tensors_);
  }

 private:
  Session& session_;
  Show show_;
  std::tuple<Tensors...> tensors_;
};

// Of a session that outlives it: auto w = fg::debug::watch<"h", "loss">(s); w.run<"train">(feeds...) runs a step of s
// and shows "h" and "loss". show(name, value): value is what run<name> gives.
template <fixed_string... Names, class Session, class Show = print_value>
watched<Session, Show, Names...> watch(Session& s, Show show = {}) {
  static_assert(sizeof...(Names) > 0, "watch: name at least one tensor");
  return {s, std::move(show)};
}
// auto w = fg::debug::watch(s, fg::debug::print_value(), h, loss); w.run(train, feeds...).
template <class Session, class Show, any_tensor... Tensors>
watched_tensors<Session, Show, Tensors...> watch(Session& s, Show show, const Tensors&... tensors) {
  static_assert(sizeof...(Tensors) > 0, "watch: give at least one tensor");
  return {s, std::move(show), tensors...};
}

}  // namespace flowgraph::debug

#if FLOWGRAPH_OTHER_HALF_HERE
#include "watch_code.hpp"
#endif
