// How nodes, types and shapes are named in messages.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <flowgraph/core/list.hpp>
#include <flowgraph/core/text_from.hpp>
#include <flowgraph/graph/node.hpp>
#include <flowgraph/kernels/kernel.hpp>

namespace flowgraph::detail {

// The name that a user gave, or the op and the node's number: loss, matmul_17.
template <class Tag = void>
std::string plain_label(const graph_view& g, int node) {
  const std::string_view name = g.name_of(node);
  return name.empty() ? text_from({g.nodes[node].op->name, "_", node}) : std::string(name);
}
// The same with a user's name in quotes: "loss", matmul_17.
template <class Tag = void>
std::string label_of(const graph_view& g, int node) {
  if (!g.name_of(node).empty()) return text_from({"\"", g.name_of(node), "\""});
  for (int k = node + 1; g.nodes[node].outputs > 1 && k <= node + g.nodes[node].outputs; ++k)
    if (!g.name_of(k).empty()) return text_from({"\"", g.name_of(k), "\""});  // of its results
  return plain_label(g, node);
}

// float[32, 64]
template <class Tag = void>
std::string type_text(dtype type, int rank, const std::int64_t* dims) {
  std::string s(name_of(type));
  s += '[';
  for (int i = 0; i < rank; ++i) {
    if (i > 0) s += ", ";
    s += std::to_string(dims[i]);
  }
  return s + ']';
}
template <class Tag = void>
std::string type_text(const array_view& a) {
  return type_text(a.type, a.rank, a.dims);
}

// float[batch, 64]: the extents as the graph has them.
template <class Tag = void>
std::string type_text(const graph_view& g, int node) {
  std::string s(name_of(g.nodes[node].type));
  s += '[';
  const extents e = g.shape_of(node);
  for (int i = 0; i < e.rank; ++i) {
    if (i > 0) s += ", ";
    s += e[i] >= 0 ? std::to_string(e[i]) : std::string(g.symbol_text(e[i]));
  }
  return s + ']';
}

template <class Tag = void>
std::string line_text(const graph_view& g, int node) {
  const source& where = g.origins[node].where;
  return text_from({where.file, ":", where.line});
}

// How many letters must be changed, added or left out to get from a to b.
template <class Tag = void>
int edit_distance(std::string_view a, std::string_view b) {
  list<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// ; did you mean "loss"?   or what there is, if nothing is near.
template <class Tag = void>
std::string near_names(const graph_view& g, std::string_view wanted) {
  std::string near, all;
  int count = 0;
  for (const name_entry& e : g.names) {
    const std::string_view name = g.text(e.text);
    const int allowed = static_cast<int>(wanted.size()) / 3 + 1;
    if (edit_distance(wanted, name) <= allowed) near += text_from({near.empty() ? "" : ", ", "\"", name, "\""});
    if (count++ < 12) all += text_from({all.empty() ? "" : ", ", "\"", name, "\""});
  }
  if (!near.empty()) return "; did you mean " + near + "?";
  if (all.empty()) return "; it has no names at all";
  return text_from({"; it has ", all, count > 12 ? text_from({" and ", count - 12, " more"}) : ""});
}

}  // namespace flowgraph::detail
