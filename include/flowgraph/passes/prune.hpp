// Only what the fetches need, seen from the feeds: a compact graph of live nodes in topological order. Ids are dense
// again, so it also runs after the passes that leave dead nodes behind. What optimizers change is changed at the end of
// the step, wherever that was written: everybody else reads what was there before, unless it depends on the change.
#pragma once
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/sources.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

class pruner {
 public:
  // model: empty where the graph is the model itself.
  constexpr pruner(const graph_view& from, detail::slice<int> model, detail::slice<int> fetches,
                   detail::slice<int> feeds, bool allow_unfed = false)
      : from_(from),
        model_(model),
        allow_unfed_(allow_unfed),
        to_(from.nodes.count),
        fed_(from.nodes.count),
        feeds_(feeds) {
    for (const int f : feeds) fed_.data[f] = true, require_outside(f);
    for (const int f : fetches) to_.data[f] = live, require_outside(f);
    mark();
    copy_shapes(result.graph, from);
    result.graph.nodes.reserve(count_ + feeds.count);  // not zeroed: all of it will be written
    result.graph.edges.reserve(edges_);
    result.graph.words.reserve(words_);
    result.model.reserve(count_ + feeds.count);
    for (int k = 0; k < feeds.count; ++k) write_feed(feeds[k], k);
    if (now_.count != 0) arrange();
    if (early_ends_ && model.count == 0) postpone();  // passes keep the order that they find
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
    bool others = false, early = false;
    const bool* fed = fed_.data;
    const node* nodes = from_.nodes.data;
    for (int i = from_.nodes.count; i-- > 0;) {
      if (to[i] != live || fed[i]) continue;
      const node& x = nodes[i];
      if (x.n_regions != 0 && replaced(i)) continue;
      ++count, edges += x.n_inputs + x.n_control, words += x.n_attrs, others |= !x.at_end, early |= x.at_end && others;
      if (x.n_inputs == 0 && x.op->id == ops::placeholder::id && !allow_unfed_) fail(problem::not_fed, i);
      for (const int *e = from_.edges.data + x.inputs, *end = e + x.n_inputs + x.n_control - replaces(x); e != end; ++e)
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
    count_ = count, edges_ = edges, words_ = words, early_ends_ = early;
  }

  // An owner that does the same as an earlier one and more stands for it, at its place.
  constexpr bool replaces(const node& x) const {
    return x.n_regions != 0 &&
           flowgraph::detail::attrs_from_words<ops::control_attrs>(from_.words.data + x.attrs).replaces != 0;
  }
  constexpr int earlier(const node& x) const { return from_.edges[x.inputs + x.n_inputs + x.n_control - 1]; }
  // Seen from the back: a live owner i replaces all those before it that it was made from.
  constexpr bool replaced(int i) {
    if (now_.count != 0 && now_[i] != 0) return true;
    while (replaces(from_.nodes[i])) {
      const int before = earlier(from_.nodes[i]);
      if (now_.count == 0) now_ = detail::vec<int>(from_.nodes.count);
      now_[before] = i + 1;
      i = before;
    }
    return false;
  }

  // The order in which nodes are written: what replaces an owner stands where that one did, behind what it reads, and
  // the nodes of a region stand right before their owner. -1-i: from here on node i is replaced.
  constexpr void arrange() {
    const int n = from_.nodes.count;
    placed_ = detail::vec<bool>(n);
    region_head_ = detail::vec<int>(from_.regions.count);
    next_in_region_ = detail::vec<int>(n);
    for (int i = n; i-- > 0;) {
      int& head = region_head_[from_.nodes[i].region];
      next_in_region_[i] = head, head = i + 1;
    }
    place_region(0);
  }
  constexpr void place_region(int r) {
    for (int i = region_head_[r]; i != 0; i = next_in_region_[i - 1]) place(i - 1);
  }
  constexpr void place(int i) {
    if (placed_[i]) return;
    const node& x = from_.nodes[i];
    if (x.op->id == ops::output::id) return place_output(i);
    placed_[i] = true;
    if (now_[i] != 0) {
      place(now_[i] - 1);
      order_.push(-1 - i);
      return;
    }
    for (int k = x.inputs; k < x.inputs + x.n_inputs + x.n_control - replaces(x); ++k) place(from_.edges[k]);
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r) place_region(r);
    order_.push(i);
    for (int k = i + 1; k <= i + x.outputs && x.outputs > 1; ++k) order_.push(k), placed_[k] = true;
  }
  // Behind its node; of a node that is replaced there is none.
  constexpr void place_output(int i) {
    place(from_.edges[from_.nodes[i].inputs]);
    placed_[i] = true;
  }
  // Nodes that run at the end, and all that depends on them, behind the others, both as they were ordered before.
  constexpr void postpone() {
    const int n = from_.nodes.count;
    detail::vec<int> before = static_cast<detail::vec<int>&&>(order_);
    for (int i = 0; before.count < n && i < n && now_.count == 0; ++i) before.push(i);
    detail::vec<bool> late(n);
    for (const int i : before) {
      if (i < 0) continue;
      const node& x = from_.nodes[i];
      if (to_[i] != live || fed_[i]) continue;
      bool is_late = late[i] || (x.at_end && !x.op->is(trait::source));
      for (int k = x.inputs; k < x.inputs + x.n_inputs + x.n_control - replaces(x); ++k)
        is_late = is_late || late[standing(from_.edges[k])];
      late[i] = is_late;
      if (is_late) late[outermost(i)] = true;
    }
    order_ = detail::vec<int>();
    for (int pass = 0; pass < 2; ++pass)
      for (const int i : before)
        if (late[outermost(i < 0 ? now_[-1 - i] - 1 : i)] == (pass == 1)) order_.push(i);
  }
  // What has taken this node's place.
  constexpr int standing(int i) const {
    if (now_.count == 0) return i;
    const int owner = from_.nodes[i].op->id == ops::output::id ? from_.inputs(i)[0] : i;
    return now_[owner] != 0 ? now_[owner] - 1 : i;
  }
  // The node of the graph itself in whose regions this one is.
  constexpr int outermost(int i) const {
    while (from_.nodes[i].region != 0) {
      const int owner = from_.regions[from_.nodes[i].region].owner;
      if (owner < 0) break;
      i = standing(owner);
    }
    return i;
  }
  constexpr void stand_for(int i) {
    const node &old = from_.nodes[i], &owner = from_.nodes[now_[i] - 1];
    const auto value = [](const node& x, int id, int k) { return x.outputs > 1 ? id + 1 + k : id; };
    for (int k = 0; k < old.outputs; ++k) {
      int& to = to_[value(old, i, k)];
      if (to <= 0) to = to_[value(owner, now_[i] - 1, k)];
    }
    if (to_[i] <= 0) to_[i] = to_[now_[i] - 1];
  }

  constexpr void require_outside(int id) {
    if (from_.nodes.data[id].region != 0) fail(problem::left_region, id);
  }
  constexpr void fail(problem why, int id) {
    if (result.fault.why == problem::none) result.fault = {why, model_of(id)};
  }
  constexpr int model_of(int id) const { return model_.count == 0 ? id : model_.data[id]; }

  // A feed that nobody reads says what a name is in which the fetches' extents are written, and no other feed does.
  constexpr bool binds(int feed) const {
    bool needed = false;
    each_name(from_, from_.nodes[feed].shape, [&](std::string_view name) {
      for (const int f : feeds_)
        if (f != feed && to_[f] != 0 && has_name(from_, from_.nodes[f].shape, name)) return;
      for (int i = 0; i < from_.nodes.count && !needed; ++i)
        needed = to_[i] == live && has_name(from_, from_.nodes[i].shape, name);
    });
    return needed;
  }

  // Feeds come first, in the caller's order, whether needed or not.
  constexpr void write_feed(int i, int k) {
    const node& x = from_.nodes[i];
    if (x.type == dtype::none) fail(problem::operation_fed, i);
    if (to_[i] == 0 && !binds(i)) fail(problem::fed_in_vain, i);
    if (to_[i] > 0) fail(problem::fed_twice, i);
    node& y = result.graph.nodes[k] = {};
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
    const int* order = order_.count == 0 ? nullptr : order_.data;
    for (int k = 0, n = order == nullptr ? from_.nodes.count : order_.count; k < n; ++k) {
      const int i = order == nullptr ? k : order[k];
      if (i < 0) {
        stand_for(-1 - i);
        continue;
      }
      if (to[i] != live && !(fed_outputs_ && is_fed_output(i))) continue;
      const node& x = nodes[i];
      node& y = out[count] = x;
      y.inputs = edges, y.attrs = words, model[count++] = in_model == nullptr ? i : in_model[i];
      if (order != nullptr && replaces(x)) --y.n_control;
      if (to[i] == live) to[i] = count;
      for (const int *e = in_edges + x.inputs, *end = e + y.n_inputs + y.n_control; e != end; ++e)
        out_edges[edges++] = to[*e] - 1;
      for (const std::int64_t *w = in_words + x.attrs, *end = w + x.n_attrs; w != end; ++w) out_words[words++] = *w;
      if (order != nullptr && replaces(x)) out_words[y.attrs + 1] = 0;
    }
    result.graph.nodes.count = result.model.count = count;
    result.graph.words.count = words;
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
      const bool replaced_owner = copy.owner >= 0 && now_.count != 0 && now_[copy.owner] != 0;
      const int owner = copy.owner < 0 || replaced_owner ? 0 : to_[copy.owner];
      copy.owner = owner - 1;
      copy.results = edges_;
      if (owner == 0) copy.n_results = 0;
      for (int k = 0; k < copy.n_results; ++k) g.edges[edges_++] = to_[from_.results(r)[k]] - 1;
      g.regions.push(copy);
    }
    g.edges.count = edges_;
  }

  graph_view from_;
  detail::slice<int> model_;
  bool allow_unfed_;
  detail::vec<int> to_;
  detail::vec<bool> fed_;
  detail::slice<int> feeds_;
  int count_ = 0, edges_ = 0, words_ = 0;
  bool fed_outputs_ = false;
  bool early_ends_ = false;  // something else stands behind what runs at the end
  // Where an owner replaces another one:
  detail::vec<int> now_;  // of each node: what replaces it + 1
  detail::vec<bool> placed_;
  detail::vec<int> order_, region_head_, next_in_region_;
};

// The part of a model that a step needs. Its fault: nothing fetched, a placeholder that is needed and not fed, a
// feed that is not needed. allow_unfed: such placeholders count as fed, behind those that are.
constexpr draft prune(const graph_view& model, const signature& s, bool allow_unfed = false) {
  pruner p(model, {}, s.fetches, s.feeds, allow_unfed);
  draft& d = p.result;
  if (s.fetches.count == 0) d.fault = {problem::nothing_fetched, -1};
  for (int i = s.feeds.count; allow_unfed && i < d.graph.nodes.count; ++i)
    if (d.graph.nodes[i].op->id == ops::placeholder::id) d.feeds.push(i);
  return static_cast<draft&&>(d);
}

// The same for a draft that other passes left dead nodes in.
constexpr draft prune(const draft_view& d) {
  pruner p(d.graph, d.model, d.fetches, d.feeds);
  return static_cast<draft&&>(p.result);
}
constexpr void prune(draft& d) {
  const plan_fault fault = d.fault;
  d = prune(d.view());
  d.fault = fault;
}

}  // namespace flowgraph::passes
