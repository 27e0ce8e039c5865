// Only what the fetches need, seen from the feeds: a compact graph of live nodes in topological order. Ids are dense
// again, so it also runs after the passes that leave dead nodes behind.
#pragma once
#include <flowgraph/ops/sources.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

class pruner {
 public:
  // model: empty where the graph is the model itself. late: nodes may stand behind their readers.
  constexpr pruner(const graph_view& from, detail::slice<int> model, detail::slice<int> fetches,
                   detail::slice<int> feeds, bool late)
      : from_(from),
        model_(model),
        to_(from.size()),
        fed_(from.size()) {
    for (const int f : feeds) fed_[f] = true;
    mark(fetches);
    copy_tables(feeds.count);
    for (const int f : feeds) write_feed(f);
    int* to = to_.data;
    for (int i = 0, n = from.size(); i < n; ++i)
      if (to[i] == live) late ? write_ordered(i) : write(i);
    copy_regions();
    for (const int f : fetches) result.fetches.push(to[f] - 1);
    result.graph.nodes.count = count_;
    result.model.count = count_;
  }

  draft result;

 private:
  static constexpr int live = -1;  // other values of to_: 0 not needed, id + 1 in the result

  constexpr void mark(detail::slice<int> fetches) {
    detail::vec<int> storage(from_.size() + 1);
    int *to = to_.data, *stack = storage.data, top = 0;
    const bool* fed = fed_.data;
    const int* all = from_.edges.data;
    for (const int f : fetches)
      if (to[f] == 0) to[f] = live, stack[top++] = f;
    while (top > 0) {
      const int i = stack[--top];
      const node& x = from_.nodes.data[i];
      ++count_, edges_ += x.n_inputs + x.n_control, words_ += x.n_attrs;
      if (fed[i]) continue;
      if (x.n_inputs == 0 && x.op->id == ops::placeholder::id) fail(problem::not_fed, i);
      for (const int *e = all + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
        if (to[*e] == 0) to[*e] = live, stack[top++] = *e;
      if (x.outputs > 1)
        for (int k = i + 1; k <= i + x.outputs; ++k) {
          if (to[k] == 0) to[k] = live, stack[top++] = k;
          if (fed[k]) ++count_, ++edges_, ++words_;  // once as what is fed, once as what is computed
        }
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) {
        edges_ += from_.regions[r].n_results;
        for (const int e : from_.results(r))
          if (to[e] == 0) to[e] = live, stack[top++] = e;
      }
    }
  }

  constexpr void fail(problem why, int id) {
    if (result.fault.why == problem::none) result.fault = {why, model_of(id)};
  }
  constexpr int model_of(int id) const { return model_.count == 0 ? id : model_.data[id]; }

  constexpr void copy_tables(int n_feeds) {
    graph_data& g = result.graph;
    copy_shapes(g, from_);
    g.nodes = detail::vec<node>(count_ + n_feeds);
    g.edges = detail::vec<int>(edges_);
    g.words = detail::vec<std::int64_t>(words_);
    result.model = detail::vec<int>(count_ + n_feeds);
    count_ = edges_ = words_ = 0;
  }

  // Feeds come first, in the caller's order, whether needed or not.
  constexpr void write_feed(int i) {
    const node& x = from_.nodes[i];
    if (x.type == dtype::none) fail(problem::operation_fed, i);
    if (to_[i] == 0) fail(problem::fed_in_vain, i);
    if (to_[i] > 0) fail(problem::fed_twice, i);
    node& y = result.graph.nodes[count_];
    y.op = &op_def_of<ops::placeholder>;
    y.shape = x.shape;
    y.device = x.device;
    y.type = x.type;
    result.model[count_] = model_of(i);
    result.feeds.push(count_);
    to_[i] = ++count_;
  }

  constexpr void write(int i) {
    const node& x = from_.nodes.data[i];
    int* to = to_.data;
    node& y = result.graph.nodes.data[count_];
    y = x;
    y.inputs = edges_;
    result.model.data[count_] = model_.count == 0 ? i : model_.data[i];
    to[i] = ++count_;
    int* out = result.graph.edges.data;
    for (const int *e = from_.edges.data + x.inputs, *end = e + x.n_inputs + x.n_control; e != end; ++e)
      out[edges_++] = to[*e] - 1;
    y.attrs = words_;
    if (x.n_attrs != 0) {
      std::int64_t* words = result.graph.words.data;
      for (const std::int64_t *w = from_.words.data + x.attrs, *end = w + x.n_attrs; w != end; ++w)
        words[words_++] = *w;
    }
    if (x.outputs > 1) write_outputs(i);
  }

  // They stand right behind their node, even one that is fed: its readers read the feed.
  constexpr void write_outputs(int i) {
    for (int k = i + 1; k <= i + from_.nodes[i].outputs; ++k) {
      const int feed = to_[k];
      write(k);
      if (feed > 0) to_[k] = feed;
    }
  }

  // What stands behind its reader comes first.
  constexpr void write_ordered(int i) {
    const node& x = from_.nodes[i];
    if (x.op->id == ops::argument::id)
      need(from_.inputs(from_.regions[x.region].owner)[static_cast<int>(from_.attrs(i)[0])]);
    for (int k = 0; k < x.n_inputs + x.n_control; ++k) need(from_.edges[x.inputs + k]);
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
      for (const int e : from_.results(r)) need(e);
    if (to_[i] == live) write(i);
  }
  constexpr void need(int id) {
    if (to_[id] == live) write_ordered(id);
  }

  // Regions keep their ids; those of dead owners are empty.
  constexpr void copy_regions() {
    graph_data& g = result.graph;
    for (int r = 1; r < from_.regions.size(); ++r) {
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
};

// The part of a model that a step needs. Its fault: nothing fetched, a placeholder that is needed and not fed, a
// feed that is not needed. allow_unfed: such placeholders count as fed, behind those that are.
constexpr draft prune(const graph_view& model, const signature& s, bool allow_unfed = false) {
  pruner p(model, {}, s.fetches, s.feeds, false);
  draft& d = p.result;
  if (s.fetches.count == 0) d.fault = {problem::nothing_fetched, -1};
  if (allow_unfed && d.fault.why == problem::not_fed) {
    d.fault = {};
    for (int i = s.feeds.count; i < d.graph.nodes.count; ++i)
      if (d.graph.nodes[i].op->id == ops::placeholder::id) d.feeds.push(i);
  }
  return static_cast<draft&&>(d);
}

// The same for a draft that other passes left dead nodes in; late: and nodes behind their readers.
constexpr void prune(draft& d, bool late = false) {
  pruner p(d.graph.view(), d.model, d.fetches, d.feeds, late);
  p.result.fault = d.fault;
  d = static_cast<draft&&>(p.result);
}

}  // namespace flowgraph::passes
