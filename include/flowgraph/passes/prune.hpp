// Only what the fetches need, seen from the feeds: a compact graph of live nodes in topological order. Ids are dense
// again, so it also runs after the passes that leave dead nodes behind.
#pragma once
#include <flowgraph/ops/sources.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

class pruner {
 public:
  // model: empty where the graph is the model itself.
  constexpr pruner(const graph_view& from, detail::slice<int> model, detail::slice<int> fetches,
                   detail::slice<int> feeds)
      : from_(from),
        model_(model),
        to_(from.nodes.count),
        fed_(from.nodes.count) {
    for (const int f : feeds) fed_.data[f] = true;
    for (const int f : fetches) to_.data[f] = live;
    mark();
    copy_shapes(result.graph, from);
    result.graph.nodes = detail::vec<node>(count_ + feeds.count);
    result.graph.edges = detail::vec<int>(edges_);
    result.graph.words = detail::vec<std::int64_t>(words_);
    result.model = detail::vec<int>(count_ + feeds.count);
    for (int k = 0; k < feeds.count; ++k) write_feed(feeds[k], k);
    write(feeds.count);
    copy_regions();
    for (const int f : fetches) result.fetches.push(to_.data[f] - 1);
  }

  draft result;

 private:
  static constexpr int live = -1;  // other values of to_: 0 not needed, id + 1 in the result

  // From the back, so that every reader comes before what it reads. Counts what will be written.
  constexpr void mark() {
    int *to = to_.data, edges = 0, words = 0, count = 0;
    const bool* fed = fed_.data;
    const node* nodes = from_.nodes.data;
    for (int i = from_.nodes.count; i-- > 0;) {
      if (to[i] != live || fed[i]) continue;
      const node& x = nodes[i];
      ++count, edges += x.n_inputs + x.n_control, words += x.n_attrs;
      if (x.n_inputs == 0 && x.op->id == ops::placeholder::id) fail(problem::not_fed, i);
      for (const int *e = from_.edges.data + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
        to[*e] = live;
      if (x.outputs > 1 || x.n_regions != 0) {
        // Outputs stand behind their node: those that nobody reads are found only now. They wait for what it does.
        for (int k = i + 1; k <= i + x.outputs && x.outputs > 1; ++k) {
          if (to[k] != live || fed[k]) ++count, edges += nodes[k].n_inputs + nodes[k].n_control, ++words;
          if (fed[k])
            fed_outputs_ = true;
          else
            to[k] = live;
        }
        for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) {
          edges += from_.regions[r].n_results;
          for (const int e : from_.results(r)) to[e] = live;
        }
      }
    }
    count_ = count, edges_ = edges, words_ = words;
  }

  constexpr void fail(problem why, int id) {
    if (result.fault.why == problem::none) result.fault = {why, model_of(id)};
  }
  constexpr int model_of(int id) const { return model_.count == 0 ? id : model_.data[id]; }

  // Feeds come first, in the caller's order, whether needed or not.
  constexpr void write_feed(int i, int k) {
    const node& x = from_.nodes[i];
    if (x.type == dtype::none) fail(problem::operation_fed, i);
    if (to_[i] == 0) fail(problem::fed_in_vain, i);
    if (to_[i] > 0) fail(problem::fed_twice, i);
    node& y = result.graph.nodes[k];
    y.op = &op_def_of<ops::placeholder>;
    y.shape = x.shape;
    y.device = x.device;
    y.outputs = 1;
    y.type = x.type;
    result.model[k] = model_of(i);
    result.feeds.push(k);
    to_[i] = k + 1;
  }

  constexpr void write(int count) {
    int *to = to_.data, *out_edges = result.graph.edges.data, *model = result.model.data, edges = 0, words = 0;
    const int *in_edges = from_.edges.data, *in_model = model_.count == 0 ? nullptr : model_.data;
    const node* nodes = from_.nodes.data;
    node* out = result.graph.nodes.data;
    const std::int64_t* in_words = from_.words.data;
    std::int64_t* out_words = result.graph.words.data;
    for (int i = 0, n = from_.nodes.count; i < n; ++i) {
      if (to[i] != live && !(fed_outputs_ && is_fed_output(i))) continue;
      const node& x = nodes[i];
      node& y = out[count] = x;
      y.inputs = edges, y.attrs = words, model[count++] = in_model == nullptr ? i : in_model[i];
      if (to[i] == live) to[i] = count;
      for (const int *e = in_edges + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
        out_edges[edges++] = to[*e] - 1;
      for (const std::int64_t *w = in_words + x.attrs, *end = w + x.n_attrs; w != end; ++w) out_words[words++] = *w;
    }
    result.graph.nodes.count = result.model.count = count;
    edges_ = edges;
  }

  // An output that is fed is written twice: as what is fed, and next to its node as what is computed.
  constexpr bool is_fed_output(int i) const {
    return fed_[i] && from_.nodes[i].op->id == ops::output::id && to_[from_.inputs(i)[0]] > 0;
  }

  // Regions keep their ids; those of dead owners are empty.
  constexpr void copy_regions() {
    graph_data& g = result.graph;
    for (int r = 1; r < from_.regions.count; ++r) {
      region copy = from_.regions[r];
      const int owner = copy.owner < 0 ? 0 : to_[copy.owner];
      copy.owner = owner - 1;
      copy.results = edges_;
      if (owner == 0) copy.n_results = 0;
      for (int k = 0; k < copy.n_results; ++k) g.edges[edges_++] = to_[from_.results(r)[k]] - 1;
      g.regions.push(copy);
    }
  }

  graph_view from_;
  detail::slice<int> model_;
  detail::vec<int> to_;
  detail::vec<bool> fed_;
  int count_ = 0, edges_ = 0, words_ = 0;
  bool fed_outputs_ = false;
};

// The part of a model that a step needs. Its fault: nothing fetched, a placeholder that is needed and not fed, a
// feed that is not needed. allow_unfed: such placeholders count as fed, behind those that are.
constexpr draft prune(const graph_view& model, const signature& s, bool allow_unfed = false) {
  pruner p(model, {}, s.fetches, s.feeds);
  draft& d = p.result;
  if (s.fetches.count == 0) d.fault = {problem::nothing_fetched, -1};
  if (allow_unfed && d.fault.why == problem::not_fed) {
    d.fault = {};
    for (int i = s.feeds.count; i < d.graph.nodes.count; ++i)
      if (d.graph.nodes[i].op->id == ops::placeholder::id) d.feeds.push(i);
  }
  return static_cast<draft&&>(d);
}

// The same for a draft that other passes left dead nodes in.
constexpr void prune(draft& d) {
  pruner p(d.graph.view(), d.model, d.fetches, d.feeds);
  p.result.fault = d.fault;
  d = static_cast<draft&&>(p.result);
}

}  // namespace flowgraph::passes
