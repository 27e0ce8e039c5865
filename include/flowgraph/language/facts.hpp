// What can be asked of a graph before anything runs. Works on graph_view, so that constexpr models and graphs that
// are built at run time answer alike.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/error.hpp>
#include <flowgraph/ops/sources.hpp>
#include <flowgraph/passes/cost.hpp>
#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/plan/bind.hpp>

namespace flowgraph::detail {

constexpr bool is_variable(const graph_view& g, int id) { return g.nodes[id].op->id == ops::variable::id; }

// Elements of the trainable variables, or bytes of all of them.
constexpr std::int64_t count_state(const graph_view& g, bool bytes_of_all) {
  std::int64_t sum = 0;
  for (int i = 0; i < g.size(); ++i) {
    if (!is_variable(g, i)) continue;
    if (!bytes_of_all && !attrs_from_words<ops::variable::attrs>(g.attrs(i).data).trainable) continue;
    const extents e = g.shape_of(i);
    std::int64_t n = bytes_of_all ? size_of(g.nodes[i].type) : 1;
    for (int k = 0; k < e.rank; ++k) n *= e[k];
    sum += n;
  }
  return sum;
}

constexpr int find_or_throw(const graph_view& g, std::string_view name) {
  const int id = g.find(name);
  if (id < 0) throw name_error(problem::unknown_name, {"\"", name, "\": ", sentence(problem::unknown_name)});
  return id;
}

// The nodes a question is about: those with these names, or all that have a name and compute something.
constexpr vec<int> asked_nodes(const graph_view& g, slice<std::string_view> names) {
  vec<int> nodes;
  for (const std::string_view n : names) nodes.push(find_or_throw(g, n));
  if (names.count == 0)
    for (const name_entry& e : g.names)
      if (!g.nodes[e.node].op->is(trait::source)) nodes.push(e.node);
  return nodes;
}

constexpr std::int64_t answer_or_throw(std::int64_t answer) {
  if (answer < 0) throw feed_error(problem::extent_unknown, "bind every named extent of the question, as in batch(32)");
  return answer;
}

// The plan that questions are about: whoever has to feed it will.
constexpr plan_data plan_or_throw(const graph_view& g, slice<std::string_view> fetches, slice<std::string_view> devices,
                                  passes::options how) {
  const vec<int> nodes = asked_nodes(g, fetches);
  how.allow_unfed = true;
  plan_data p = passes::plan(g, {nodes, {}}, devices, how);
  if (p.fault.why != problem::none) throw plan_error(p.fault.why, sentence(p.fault.why));
  return p;
}

constexpr std::int64_t peak_bytes_of(const graph_view& g, slice<std::string_view> fetches, slice<binding> bindings) {
  const std::string_view device = "/cpu:0";
  return answer_or_throw(peak_bytes(plan_or_throw(g, fetches, {&device, 1}, {.one_device = true}).view(), bindings));
}

constexpr std::int64_t flops_of(const graph_view& g, slice<std::string_view> fetches, slice<binding> bindings) {
  return answer_or_throw(passes::flops(g, asked_nodes(g, fetches), bindings));
}

constexpr std::uint64_t fingerprint_of(const graph_view& g) {
  std::uint64_t h = 0;
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g.nodes[i];
    h = mix(mix(mix(h, n.op->id), g.shapes[n.shape].hash), static_cast<std::uint64_t>(n.type));
    for (const int in : g.inputs(i)) h = mix(h, static_cast<std::uint64_t>(in));
    for (const int in : g.controls(i)) h = mix(h, ~static_cast<std::uint64_t>(in));
    for (const std::int64_t w : g.attrs(i)) h = mix(h, static_cast<std::uint64_t>(w));
    h = mix(mix(h, static_cast<std::uint64_t>(n.region)), hash(g.device(i)));
  }
  for (const name_entry& e : g.names) h = mix(mix(h, e.hash), static_cast<std::uint64_t>(e.node));
  return h;
}

}  // namespace flowgraph::detail
