// The graph as plain data. A node is lean (an op, ranges into side tables, ids); shapes, names, attributes and
// source lines live in tables of their own, so that building and passing over thousands of nodes stays cheap for
// the constant evaluator.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <flowgraph/core/diagnostics.hpp>
#include <flowgraph/core/dtype.hpp>
#include <flowgraph/core/symbols.hpp>
#include <flowgraph/core/vec.hpp>
#include "op_def.hpp"

namespace flowgraph {

// None of these tables' rows has default values: arrays of them with room to spare cost the constant evaluator nothing.

// A node has one value, or none (an operation), or several: then it is followed by one `output` node for each,
// and those are what other nodes read.
struct node {
  const op_def* op;
  int inputs;  // first of n_inputs data edges, then n_control control edges
  int attrs;   // first of n_attrs words
  int shape;
  int region;        // the region it belongs to; 0 is the graph itself
  int first_region;  // first of n_regions that it owns
  int device;        // constraint, 0: none
  int n_attrs;
  std::uint16_t n_inputs;
  std::uint16_t n_control;
  std::uint8_t n_regions;
  std::uint8_t outputs;
  dtype type;
  bool at_end;  // an optimizer's: it runs when all that does not depend on it has read what it changes
};

// A sub-graph that an op runs: a branch, a loop's body. Its nodes read only each other; what comes from outside
// enters through `argument` nodes, each standing for one input of the owner. Its nodes stand before the owner.
struct region {
  int owner;
  int parent;
  int results;  // first of n_results edges
  int n_results;
};

// The user's line that made a node.
struct source {
  const char* file;
  int line;
};

namespace detail {
struct call_site {};  // so that no number becomes a line

template <class T>
constexpr bool refuse_argument() {
  mistake<problem::argument_too_many, T>();
  return true;
}
}  // namespace detail

// As a defaulted last parameter, `caller where = {}`: the line of the call.
struct caller : source {
  constexpr caller(detail::call_site = {}, int l = __builtin_LINE(), const char* f = __builtin_FILE()) : source{f, l} {}
  constexpr explicit caller(const source& s) : source(s) {}
  // An argument too many ends up here. It is told by the exception specification, which compilers look at where the
  // call stands; a body they would look at when they evaluate the graph.
  template <class T>
    requires(!std::is_base_of_v<source, T>)
  constexpr caller(const T&) noexcept(detail::refuse_argument<T>()) : source{} {}
};

struct origin {
  source where;
  int scope;  // text id, 0: none
};

// A range of the graph's characters.
struct text_range {
  int begin;
  int length;
};

struct name_entry {
  int node;
  text_range text;
  std::uint64_t hash;
};

struct shape_entry {
  int dims;  // first of rank extents
  int rank;
  std::uint64_t hash;
};

// The tables of a graph: what a row is, and the name.
// clang-format off
#define FLOWGRAPH_GRAPH_TABLES(table) \
  table(node, nodes)                                 \
  table(origin, origins)                             \
  table(int, edges)                                  \
  table(std::int64_t, words)                         \
  table(shape_entry, shapes)                         \
  table(extent, dims)                                \
  table(symbol, symbol_entries)                      \
  table(char, symbol_chars)                          \
  table(name_entry, names)                           \
  table(text_range, texts)  /* devices and scopes */ \
  table(char, chars)                                 \
  table(region, regions)
// clang-format on

// Reads a graph, wherever its tables live: in a graph being built or in a constexpr model.
struct graph_view {
#define FLOWGRAPH_SLICE(row, name) detail::slice<row> name;
  FLOWGRAPH_GRAPH_TABLES(FLOWGRAPH_SLICE)
#undef FLOWGRAPH_SLICE

  constexpr int size() const { return nodes.count; }
  constexpr detail::slice<int> inputs(int id) const {
    const node& n = nodes[id];
    return {edges.data + n.inputs, n.n_inputs};
  }
  constexpr detail::slice<int> controls(int id) const {
    const node& n = nodes[id];
    return {edges.data + n.inputs + n.n_inputs, n.n_control};
  }
  constexpr detail::slice<std::int64_t> attrs(int id) const {
    const node& n = nodes[id];
    return {words.data + n.attrs, n.n_attrs};
  }
  constexpr detail::slice<int> results(int region_id) const {
    const region& r = regions[region_id];
    return {edges.data + r.results, r.n_results};
  }
  constexpr extents shape(int shape_id) const {
    const shape_entry& s = shapes[shape_id];
    extents e;
    e.rank = s.rank;
    for (int i = 0; i < s.rank; ++i) e.d[i] = dims[s.dims + i];
    return e;
  }
  constexpr extents shape_of(int id) const { return shape(nodes[id].shape); }
  constexpr std::string_view symbol_text(extent e) const {
    const symbol& s = symbol_entries[static_cast<int>(-1 - e)];
    return detail::text_view(symbol_chars.data + s.text, s.length);
  }
  constexpr std::string_view text(text_range r) const { return detail::text_view(chars.data + r.begin, r.length); }
  constexpr std::string_view device(int id) const { return text(texts[nodes[id].device]); }
  // -1: no such name.
  constexpr int find(std::string_view name) const {
    const std::uint64_t h = detail::hash(name);
    for (const name_entry& e : names)
      if (e.hash == h && text(e.text) == name) return e.node;
    return -1;
  }
  // The first name given to a node; empty: none.
  constexpr std::string_view name_of(int id) const {
    for (const name_entry& e : names)
      if (e.node == id) return text(e.text);
    return {};
  }
};

}  // namespace flowgraph
