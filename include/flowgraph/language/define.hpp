// fg::define: a graph built by the compiler, as a constexpr value with facts about itself.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "facts.hpp"
#include "graph.hpp"

namespace flowgraph {

struct model_counts {
#define FLOWGRAPH_COUNT(row, name) int name = 0;
  FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_COUNT)
#undef FLOWGRAPH_COUNT
  bool failed = false;  // what is wrong was said: nobody is to complain of what the model does not have
};

constexpr bool fits(const model_counts& c, const model_counts& room) {
#define FLOWGRAPH_FITS(row, name) &&c.name <= room.name
  return true FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_FITS);
#undef FLOWGRAPH_FITS
}

template <model_counts C>
struct model {
#define FLOWGRAPH_ARRAY(row, name) row name##_[C.name + 1];
  FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_ARRAY)
#undef FLOWGRAPH_ARRAY

  static constexpr bool failed = C.failed;

  // Facts, all of them constant expressions. Fetch names narrow a question to what a step with these fetches runs;
  // without them it is asked of everything that has a name. Named extents are bound as batch(32).
  constexpr int nodes() const { return C.nodes; }
  // Elements of trainable variables.
  constexpr std::int64_t parameters() const { return detail::count_state(view(), false); }
  // Bytes of all variables, those of optimizers included.
  constexpr std::int64_t state_bytes() const { return detail::count_state(view(), true); }
  // Bytes a step needs beside its variables and feeds, all on one device.
  template <fixed_string... Fetches, std::same_as<binding>... B>
  constexpr std::int64_t peak_bytes(B... bindings) const {
    const std::string_view names[] = {Fetches.view()..., {}};
    const binding bound[] = {bindings..., {}};
    return failed ? 0 : detail::peak_bytes_of(view(), {names, sizeof...(Fetches)}, {bound, sizeof...(B)});
  }
  // Floating-point operations of one step.
  template <fixed_string... Fetches, std::same_as<binding>... B>
  constexpr std::int64_t flops(B... bindings) const {
    const std::string_view names[] = {Fetches.view()..., {}};
    const binding bound[] = {bindings..., {}};
    return failed ? 0 : detail::flops_of(view(), {names, sizeof...(Fetches)}, {bound, sizeof...(B)});
  }
  // The same number on any machine for the same graph: ops, shapes, attributes, edges, devices and names.
  constexpr std::uint64_t fingerprint() const { return detail::fingerprint_of(view()); }

  constexpr graph_view view() const {
#define FLOWGRAPH_VIEW(row, name) .name = {name##_, C.name},
    return {FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_VIEW)};
#undef FLOWGRAPH_VIEW
  }
};

namespace detail {

// C has room for all of g.
template <model_counts C>
constexpr void fill(model<C>& m, const graph_view& g) {
#define FLOWGRAPH_COPY(row, name) copy_rows(m.name##_, g.name);
  FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_COPY)
#undef FLOWGRAPH_COPY
}

// A graph in tables with room to spare, before its size is known: most models are built only once. Where Room was too
// small it holds only counts.
template <model_counts Room>
struct roomy_model {
  model<Room> tables;
  model_counts counts;
  fault first_fault;
  bool complete;

  constexpr graph_view view() const {
#define FLOWGRAPH_VIEW(row, name) .name = {tables.name##_, counts.name},
    return {FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_VIEW)};
#undef FLOWGRAPH_VIEW
  }
};

inline constexpr model_counts usual_room{.nodes = 16384,
                                         .origins = 16384,
                                         .edges = 32768,
                                         .words = 32768,
                                         .shapes = 512,
                                         .dims = 2048,
                                         .symbol_entries = 256,
                                         .symbol_chars = 4096,
                                         .names = 4096,
                                         .texts = 1024,
                                         .chars = 65536,
                                         .regions = 256};

// An update that no name leads to is a mistake: nobody can run it. Most have names themselves.
constexpr void require_named_updates(graph_data& g) {
  vec<bool> reached;
  for (const auto& [update, what] : g.noted_updates) {
    bool named = false;
    for (int i = g.names.size(); i-- > 0 && !named;) named = g.names[i].node == update;
    if (named) continue;
    if (reached.empty()) {
      reached = vec<bool>(g.size());
      for (const name_entry& n : g.names) reached[n.node] = true;
      for (int i = g.size(); i-- > 0;) {
        if (!reached.data[i]) continue;
        const node& x = g.nodes.data[i];
        const int *in = g.edges.data + x.inputs, *end = in + x.n_inputs + x.n_control;
        for (; in != end; ++in) reached.data[*in] = true;
        for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
          for (int k = 0; k < g.regions[r].n_results; ++k) reached.data[g.edges[g.regions[r].results + k]] = true;
      }
    }
    if (reached[update]) continue;
    g.where = g.origins[update].where;
    g.fail(problem::update_unnamed, what);
  }
}

template <class F>
constexpr auto build_roomy(const F& build) {
  graph g;
  build(g);
  require_named_updates(g.data());
  const graph_view v = g.view();
  roomy_model<usual_room> m{};
#define FLOWGRAPH_SIZE(row, name) .name = v.name.count,
  m.counts = {FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_SIZE)};
#undef FLOWGRAPH_SIZE
  m.first_fault = g.data().first_fault;
  m.complete = fits(m.counts, usual_room);
  if (m.complete) fill(m.tables, v);
  return m;
}

// A variable of its own, because a local of define() would be evaluated again within define's evaluation. It has this
// name because clang's first line about a lambda that it can't evaluate shows it: one that reads what is no constant,
// or needs more steps than the flag allows.
template <class F>
inline constexpr auto model_of_constants_within_fconstexpr_steps = build_roomy(F{});

#ifdef __clang__
// The same value, where it is one: of a reference clang does not demand it. An error of the user's in the lambda is
// said once, then.
template <class F>
inline const auto& built = build_roomy(F{});
#else
template <class F>
inline constexpr const auto& built = model_of_constants_within_fconstexpr_steps<F>;
#endif

// Could the compiler evaluate it? If not, g++ has said so.
template <class F>
concept buildable = requires { typename constant_bool<built<F>.complete>; };

// What is wrong with a lambda before it is called.
template <class F>
constexpr problem lambda_problem() {
  if constexpr (!std::is_empty_v<F> || !std::is_default_constructible_v<F>)
    return problem::lambda_captures;
  else if constexpr (!std::is_invocable_v<const F&, graph&>)
    return problem::lambda_of_graph;
  else
    return problem::none;
}

template <class F>
concept returns_something = requires(const F& build, graph& g) {
  build(g);
  requires !std::is_void_v<decltype(build(g))>;
};

template <model_counts C, class F>
constexpr model<C> freeze(const F& build) {
  model<C> m{};
  if constexpr (built<F>.complete) {
    fill(m, built<F>.view());
  } else {
    graph g;
    build(g);
    fill(m, g.view());
  }
  return m;
}

}  // namespace detail

// build is a lambda without captures: void(fg::graph&). It runs once, or, for a very large model, a second time when
// its size is known.
template <class F>
  requires(detail::lambda_problem<F>() == problem::none)
consteval auto define(F build) {
  if constexpr (detail::returns_something<F>) {
    detail::mistake<problem::define_returns, decltype(build(std::declval<graph&>()))>();
    return model<model_counts{.failed = true}>{};
  } else if constexpr (!detail::buildable<F>) {
#ifdef __clang__
    static_cast<void>(detail::model_of_constants_within_fconstexpr_steps<F>);
#endif
    return model<model_counts{.failed = true}>{};
  } else {
    constexpr const fault& wrong = detail::built<F>.first_fault;
    if constexpr (wrong.why == problem::already_said) {
      constexpr model_counts counts = [] {
        model_counts c = detail::built<F>.counts;
        c.failed = true;
        return c;
      }();
      return detail::freeze<counts>(build);
    } else if constexpr (wrong.why != problem::none) {
      detail::mistake<wrong.why, named<detail::to_fixed<wrong.subject.size()>(wrong.subject)>, at_line<wrong.line>>();
      return model<model_counts{.failed = true}>{};
    } else {
      return detail::freeze<detail::built<F>.counts>(build);
    }
  }
}

// Not consteval, so that what a lambda captures need not be constant.
template <class F>
  requires(detail::lambda_problem<F>() != problem::none)
constexpr auto define(const F&) {
  detail::mistake<detail::lambda_problem<F>(), F>();
  return model<model_counts{.failed = true}>{};
}

}  // namespace flowgraph
