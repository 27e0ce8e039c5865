// fg::define: a graph built by the compiler, as a constexpr value with facts about itself.
#pragma once
#include <concepts>
#include <cstdint>

#include "facts.hpp"
#include "graph.hpp"

namespace flowgraph {

struct model_counts {
  int nodes = 0, edges = 0, words = 0, shapes = 0, dims = 0, symbols = 0, symbol_chars = 0, names = 0, texts = 0,
      chars = 0, regions = 0;
};

template <model_counts C>
struct model {
  node nodes_[C.nodes + 1];
  origin origins_[C.nodes + 1];
  int edges_[C.edges + 1];
  std::int64_t words_[C.words + 1];
  shape_entry shapes_[C.shapes + 1];
  extent dims_[C.dims + 1];
  symbol symbols_[C.symbols + 1];
  char symbol_chars_[C.symbol_chars + 1];
  name_entry names_[C.names + 1];
  text_range texts_[C.texts + 1];
  char chars_[C.chars + 1];
  region regions_[C.regions + 1];

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
    return detail::peak_bytes_of(view(), {names, sizeof...(Fetches)}, {bound, sizeof...(B)});
  }
  // Floating-point operations of one step.
  template <fixed_string... Fetches, std::same_as<binding>... B>
  constexpr std::int64_t flops(B... bindings) const {
    const std::string_view names[] = {Fetches.view()..., {}};
    const binding bound[] = {bindings..., {}};
    return detail::flops_of(view(), {names, sizeof...(Fetches)}, {bound, sizeof...(B)});
  }
  // The same number on any machine for the same graph: ops, shapes, attributes, edges, devices and names.
  constexpr std::uint64_t fingerprint() const { return detail::fingerprint_of(view()); }

  constexpr graph_view view() const {
    return {{nodes_, C.nodes},   {origins_, C.nodes}, {edges_, C.edges},     {words_, C.words},
            {shapes_, C.shapes}, {dims_, C.dims},     {symbols_, C.symbols}, {symbol_chars_, C.symbol_chars},
            {names_, C.names},   {texts_, C.texts},   {chars_, C.chars},     {regions_, C.regions}};
  }
};

namespace detail {

struct measured {
  model_counts counts;
  fault first_fault;
};

template <class F>
constexpr measured measure(const F& build) {
  graph g;
  build(g);
  const graph_data& d = g.data();
  return {{d.nodes.size(), d.edges.size(), d.words.size(), d.shapes.size(), d.dims.size(), d.symbols.entries().size(),
           d.symbols.chars().size(), d.names.size(), d.texts.size(), d.chars.size(), d.regions.size()},
          d.first_fault};
}

// A variable of its own, because a local of define() would be evaluated again within define's evaluation.
template <class F>
inline constexpr measured measured_of = measure(F{});

template <class T>
constexpr void copy_table(T* to, const vec<T>& from) {
  for (int i = 0; i < from.count; ++i) to[i] = from.data[i];
}

template <model_counts C, class F>
constexpr model<C> freeze(const F& build) {
  graph g;
  build(g);
  const graph_data& d = g.data();
  model<C> m{};
  copy_table(m.nodes_, d.nodes);
  copy_table(m.origins_, d.origins);
  copy_table(m.edges_, d.edges);
  copy_table(m.words_, d.words);
  copy_table(m.shapes_, d.shapes);
  copy_table(m.dims_, d.dims);
  copy_table(m.symbols_, d.symbols.entries());
  copy_table(m.symbol_chars_, d.symbols.chars());
  copy_table(m.names_, d.names);
  copy_table(m.texts_, d.texts);
  copy_table(m.chars_, d.chars);
  copy_table(m.regions_, d.regions);
  return m;
}

}  // namespace detail

// build is a lambda without captures: void(fg::graph&). It runs twice: once to count, once to fill.
template <class F>
consteval auto define(F build) {
  constexpr const detail::measured& m = detail::measured_of<F>;
  if constexpr (m.first_fault.why != problem::none) {
    detail::mistake<m.first_fault.why, named<detail::to_fixed<m.first_fault.subject.size()>(m.first_fault.subject)>,
                    at_line<m.first_fault.line>>();
    return model<model_counts{}>{};
  } else {
    return detail::freeze<m.counts>(build);
  }
}

}  // namespace flowgraph
