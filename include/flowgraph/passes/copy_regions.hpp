// Another copy of an owner's regions, to become those of another owner: derivatives of a loop need one that does more.
#pragma once
#include "draft.hpp"

namespace flowgraph::passes {

class region_copier {
 public:
  // to: the first of as many regions, which are reserved and belong to region `around`, where the values are that they
  // read. The new regions are open: whoever makes the owner closes them.
  constexpr region_copier(graph_data& g, int owner, int to, int around)
      : g_(g),
        owner_(owner),
        around_(around),
        node_of_(owner),
        region_of_(g.regions.size()) {
    const node x = g.nodes[owner];
    const int region = g.current_region;
    for (int k = 0; k < x.n_regions; ++k) {
      region_of_[x.first_region + k] = to + k;
      g.enter_region(to + k);  // marks where it begins
    }
    for (int r = 1; r < region_of_.count; ++r)
      if (region_of_[r] == 0 && region_of_[g.regions[r].parent] != 0) {
        const int parent = region_of_[g.regions[r].parent];
        region_of_[r] = g.regions.push({-1, parent, 0, 0});
      }
    for (int i = 0; i < owner; ++i)
      if (g.nodes[i].region < region_of_.count && region_of_[g.nodes[i].region] != 0) copy(i);
    for (int r = 1; r < region_of_.count; ++r)
      if (region_of_[r] != 0 && g.regions[r].owner != owner) copy_results(r);
    g.current_region = region;
  }

  // Of a node of the regions: its copy.
  constexpr int operator[](int id) const { return node_of_[id] - 1; }

 private:
  FLOWGRAPH_CONSTEXPR void copy(int i) {
    node x = g_.nodes[i];
    const int from = x.region;
    detail::vec<int> edges(x.n_inputs + x.n_control);
    for (int k = 0; k < edges.count; ++k) {
      const int e = g_.edges[x.inputs + k];
      edges[k] = e < owner_ && node_of_[e] != 0 ? node_of_[e] - 1 : e;
    }
    const detail::vec<std::int64_t> words(detail::slice<std::int64_t>{g_.words.data + x.attrs, x.n_attrs});
    const origin o = g_.origins[i];
    x.inputs = g_.edges.append(edges.data, edges.count);
    x.attrs = g_.words.append(words.data, words.count);
    x.region = region_of_[from];
    if (x.n_regions != 0) {
      const int first = x.first_region;
      x.first_region = region_of_[first];
      for (int k = 0; k < x.n_regions; ++k) g_.regions[region_of_[first + k]].owner = g_.nodes.count;
    }
    g_.origins.push(o);
    const int id = g_.nodes.push(x);
    node_of_[i] = id + 1;
    if (x.op->id == ops::argument::id && g_.regions[from].owner == owner_) enter(i, id);
  }

  // What enters from outside comes from the same value; what a loop carries keeps its place.
  FLOWGRAPH_CONSTEXPR void enter(int i, int id) {
    const int k = static_cast<int>(g_.words[g_.nodes[i].attrs]);
    if (!enters_unchanged(g_.nodes[owner_], k)) return;
    g_.add_capture(g_.nodes[id].region, g_.capture(g_.edges[g_.nodes[owner_].inputs + k], around_), id);
  }

  FLOWGRAPH_CONSTEXPR void copy_results(int r) {
    const region x = g_.regions[r];
    detail::vec<int> results(x.n_results);
    for (int k = 0; k < x.n_results; ++k) results[k] = node_of_[g_.edges[x.results + k]] - 1;
    region& to = g_.regions[region_of_[r]];
    to.results = g_.edges.append(results.data, results.count);
    to.n_results = x.n_results;
  }

  graph_data& g_;
  int owner_, around_;
  detail::vec<int> node_of_;    // of each node: its copy + 1
  detail::vec<int> region_of_;  // of each region: its copy
};

}  // namespace flowgraph::passes
