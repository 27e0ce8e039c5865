// What a plan follows from: all of a graph but its lines and the names that nothing depends on. Graphs that a program
// builds again and again, one for each input, are told apart and found again by it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <flowgraph/core/hash.hpp>
#include <flowgraph/core/list.hpp>
#include <flowgraph/graph/node.hpp>
#include <flowgraph/ops/sources.hpp>

namespace flowgraph::detail {

// Names that bind a node to state; of all others only messages tell.
template <class Tag = void>
bool name_matters(const graph_view& g, const name_entry& e) {
  const op_def& op = *g.nodes[e.node].op;
  return op.id == ops::variable::id || op.is(trait::waits);
}

// Of equal graphs equal; two sums side by side, so that a processor multiplies for both at once.
template <class Tag = void>
std::uint64_t fingerprint(const graph_view& g, slice<int> fetches, slice<int> feeds) {
  std::uint64_t a = mix(0x5eed, static_cast<std::uint64_t>(g.size())), b = a;
  const auto add = [&](slice<int> all) {
    const auto pair = [&](int i) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(all.data[i])) << 32 |
             static_cast<std::uint32_t>(all.data[i + 1]);
    };
    int i = 0;
    for (; i + 4 <= all.count; i += 4) a = mix(a, pair(i)), b = mix(b, pair(i + 2));
    for (; i < all.count; ++i) a = mix(a, static_cast<std::uint64_t>(all.data[i]));
  };
  add(fetches);
  add(feeds);
  add(g.edges);
  int i = 0;
  for (; i + 2 <= g.words.count; i += 2) {
    a = mix(a, static_cast<std::uint64_t>(g.words.data[i]));
    b = mix(b, static_cast<std::uint64_t>(g.words.data[i + 1]));
  }
  for (; i < g.words.count; ++i) a = mix(a, static_cast<std::uint64_t>(g.words.data[i]));
  // The address of an op in words of eight bytes leaves room for a shape above.
  const auto of_node = [&](const node& n) {
    return reinterpret_cast<std::uintptr_t>(n.op) ^ static_cast<std::uint64_t>(n.shape) << 48;
  };
  for (i = 0; i + 2 <= g.size(); i += 2) a = mix(a, of_node(g.nodes.data[i])), b = mix(b, of_node(g.nodes.data[i + 1]));
  for (; i < g.size(); ++i) a = mix(a, of_node(g.nodes.data[i]));
  for (const shape_entry& s : g.shapes) b = mix(b, s.hash);
  for (const name_entry& e : g.names)
    if (name_matters(g, e)) a = mix(a, e.hash);
  return mix(a, b);
}

// A copy, to be compared with other graphs: a fingerprint alone is never trusted.
template <class Tag = void>
class basic_graph_structure {
 public:
  explicit basic_graph_structure(const graph_view& g)
      : nodes_(g.nodes.begin(), g.nodes.end()),
        edges_(g.edges.begin(), g.edges.end()),
        words_(g.words.begin(), g.words.end()),
        shapes_(g.shapes.begin(), g.shapes.end()),
        dims_(g.dims.begin(), g.dims.end()),
        symbols_(g.symbol_entries.begin(), g.symbol_entries.end()),
        symbol_chars_(g.symbol_chars.begin(), g.symbol_chars.end()),
        regions_(g.regions.begin(), g.regions.end()) {
    for (const node& n : g.nodes)
      if (n.device != 0 && text_of_device(n.device) == nullptr)
        devices_.push_back({n.device, std::string(g.text(g.texts[n.device]))});
    for (const name_entry& e : g.names)
      if (name_matters(g, e)) names_.push_back({e.node, std::string(g.text(e.text))});
  }

  bool is(const graph_view& g) const {
    return same(g.nodes, nodes_, &same_nodes) && same(g.edges, edges_) && same(g.words, words_) &&
           same(g.shapes, shapes_,
                [](const shape_entry& x, const shape_entry& y) { return x.dims == y.dims && x.rank == y.rank; }) &&
           same(g.dims, dims_) &&
           same(g.symbol_entries, symbols_,
                [](const symbol& x, const symbol& y) { return x.text == y.text && x.length == y.length; }) &&
           same(g.symbol_chars, symbol_chars_) &&
           same(g.regions, regions_,
                [](const region& x, const region& y) {
                  return x.owner == y.owner && x.parent == y.parent && x.results == y.results &&
                         x.n_results == y.n_results;
                }) &&
           same_devices(g) && same_names(g);
  }

 private:
  struct text_at {
    int at;
    std::string text;
  };

  static bool same_nodes(const node& x, const node& y) {
    return x.op == y.op && x.inputs == y.inputs && x.attrs == y.attrs && x.shape == y.shape && x.region == y.region &&
           x.first_region == y.first_region && x.device == y.device && x.n_attrs == y.n_attrs &&
           x.n_inputs == y.n_inputs && x.n_control == y.n_control && x.n_regions == y.n_regions &&
           x.outputs == y.outputs && x.type == y.type && x.at_end == y.at_end;
  }
  template <class T, class... Equal>
  static bool same(slice<T> a, const list<T>& b, const Equal&... equal) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal...);
  }
  const std::string* text_of_device(int id) const {
    for (const text_at& d : devices_)
      if (d.at == id) return &d.text;
    return nullptr;
  }
  // The nodes are the same, and so these are the devices that they name.
  bool same_devices(const graph_view& g) const {
    return std::all_of(devices_.begin(), devices_.end(),
                       [&](const text_at& d) { return g.text(g.texts[d.at]) == d.text; });
  }
  bool same_names(const graph_view& g) const {
    std::size_t k = 0;
    for (const name_entry& e : g.names) {
      if (!name_matters(g, e)) continue;
      if (k == names_.size() || names_[k].at != e.node || names_[k].text != g.text(e.text)) return false;
      ++k;
    }
    return k == names_.size();
  }

  list<node> nodes_;
  list<int> edges_;
  list<std::int64_t> words_;
  list<shape_entry> shapes_;
  list<extent> dims_;
  list<symbol> symbols_;
  list<char> symbol_chars_;
  list<region> regions_;
  list<text_at> devices_, names_;
};
using graph_structure = basic_graph_structure<>;

}  // namespace flowgraph::detail
