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
  bool failed = false;  // what is wrong was said: nobody is to complain of what the model does not have
};

constexpr bool fits(const model_counts& c, const model_counts& room) {
  return c.nodes <= room.nodes && c.edges <= room.edges && c.words <= room.words && c.shapes <= room.shapes &&
         c.dims <= room.dims && c.symbols <= room.symbols && c.symbol_chars <= room.symbol_chars &&
         c.names <= room.names && c.texts <= room.texts && c.chars <= room.chars && c.regions <= room.regions;
}

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

// C has room for all of g.
template <model_counts C>
constexpr void fill(model<C>& m, const graph_view& g) {
  copy_rows(m.nodes_, g.nodes);
  copy_rows(m.origins_, g.origins);
  copy_rows(m.edges_, g.edges);
  copy_rows(m.words_, g.words);
  copy_rows(m.shapes_, g.shapes);
  copy_rows(m.dims_, g.dims);
  copy_rows(m.symbols_, g.symbol_entries);
  copy_rows(m.symbol_chars_, g.symbol_chars);
  copy_rows(m.names_, g.names);
  copy_rows(m.texts_, g.texts);
  copy_rows(m.chars_, g.chars);
  copy_rows(m.regions_, g.regions);
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
    return {{tables.nodes_, counts.nodes},     {tables.origins_, counts.nodes},
            {tables.edges_, counts.edges},     {tables.words_, counts.words},
            {tables.shapes_, counts.shapes},   {tables.dims_, counts.dims},
            {tables.symbols_, counts.symbols}, {tables.symbol_chars_, counts.symbol_chars},
            {tables.names_, counts.names},     {tables.texts_, counts.texts},
            {tables.chars_, counts.chars},     {tables.regions_, counts.regions}};
  }
};

inline constexpr model_counts usual_room{.nodes = 16384,
                                         .edges = 32768,
                                         .words = 32768,
                                         .shapes = 512,
                                         .dims = 2048,
                                         .symbols = 256,
                                         .symbol_chars = 4096,
                                         .names = 4096,
                                         .texts = 1024,
                                         .chars = 65536,
                                         .regions = 256};

template <class F>
constexpr auto build_roomy(const F& build) {
  graph g;
  build(g);
  const graph_view v = g.view();
  roomy_model<usual_room> m{};
  m.counts = {v.nodes.count, v.edges.count,          v.words.count,        v.shapes.count,
              v.dims.count,  v.symbol_entries.count, v.symbol_chars.count, v.names.count,
              v.texts.count, v.chars.count,          v.regions.count};
  m.first_fault = g.data().first_fault;
  m.complete = fits(m.counts, usual_room);
  if (m.complete) fill(m.tables, v);
  return m;
}

// A variable of its own, because a local of define() would be evaluated again within define's evaluation. It has this
// name because clang's first line about a model that is too large shows it, and no flag.
template <class F>
inline constexpr auto model_within_fconstexpr_steps = build_roomy(F{});

// Could the compiler evaluate it? If not it has said so, and where.
template <class F>
concept buildable = requires { typename constant_bool<model_within_fconstexpr_steps<F>.complete>; };

template <model_counts C, class F>
constexpr model<C> freeze(const F& build) {
  model<C> m{};
  if constexpr (model_within_fconstexpr_steps<F>.complete) {
    fill(m, model_within_fconstexpr_steps<F>.view());
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
consteval auto define(F build) {
  if constexpr (!detail::buildable<F>) {
    detail::mistake<problem::model_too_large, F>();
    return model<model_counts{.failed = true}>{};
  } else {
    constexpr const fault& wrong = detail::model_within_fconstexpr_steps<F>.first_fault;
    if constexpr (wrong.why != problem::none) {
      detail::mistake<wrong.why, named<detail::to_fixed<wrong.subject.size()>(wrong.subject)>, at_line<wrong.line>>();
      return model<model_counts{.failed = true}>{};
    } else {
      return detail::freeze<detail::model_within_fconstexpr_steps<F>.counts>(build);
    }
  }
}

}  // namespace flowgraph
