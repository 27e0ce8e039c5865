// Cuts the graph where an edge crosses devices: one send/recv pair for each value and destination, shared by all who
// read it there, and one without a value for all that a node waits for on one other device. Constants are copied
// instead. A loop or a choice that spans
// devices becomes one on each of them, which goes by the predicate that it receives: its part. What a loop carries is
// where the body computes it; what enters a part unchanged is brought there once, before it begins.
#pragma once
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include "place.hpp"
#include "updates_last.hpp"

namespace flowgraph::passes {

class partitioner {
 public:
  constexpr partitioner(const draft_view& from, placement& p)
      : from_(from.graph),
        model_(from.model),
        n_devices_(p.devices),
        at_(p.device),
        because_(p.why),
        to_(from.graph.nodes.count),
        values_(from.graph.nodes.count),
        region_(from.graph.regions.count * p.devices),
        spans_(from.graph.regions.count * p.devices),
        captured_(from.graph.regions.count * p.devices),
        late_(find_late(from.graph)) {
    graph_data& g = result.graph;
    copy_shapes(g, from_);
    g.words = detail::vec<std::int64_t>(from_.words);
    for (int i = 0; i < from_.nodes.count; ++i) values_[i] = i;
    find_spans();
    find_homes();
    make_regions();
    for (int i = 0; i < from_.nodes.count; ++i) copy(i);
    for (const int f : from.fetches) result.fetches.push(to_[f]);
    for (const int f : from.feeds) result.feeds.push(to_[f]);
    made.device = static_cast<detail::vec<int>&&>(device_);
    made.why = static_cast<detail::vec<placed>&&>(why_);
    made.devices = p.devices;
  }

  draft result;
  placement made;
  detail::vec<bool> late;  // of each node of the result

 private:
  // Different for different numbers: hashes of several small ones may be equal.
  static constexpr std::uint64_t key_of(int region, int device, int id) {
    return static_cast<std::uint64_t>(region + 1) << 42 | static_cast<std::uint64_t>(device) << 32 |
           static_cast<std::uint64_t>(id);
  }

  constexpr bool is_source(int i) const {
    return from_.nodes[i].op->id == ops::constant::id || from_.nodes[i].op->id == ops::literal::id;
  }
  constexpr bool is_argument(int i) const { return from_.nodes[i].op->id == ops::argument::id; }
  constexpr bool is_output(int i) const { return from_.nodes[i].op->id == ops::output::id; }
  constexpr bool is_variable(int i) const { return from_.nodes[outside(from_, i)].op->id == ops::variable::id; }
  constexpr const node& owner_of(int region) const { return from_.nodes[from_.regions[region].owner]; }
  constexpr int index_of(int argument) const { return static_cast<int>(from_.attrs(argument)[0]); }
  // By the first region of an owner, or by region; and device.
  constexpr int entry(int region, int device) const { return region * n_devices_ + device; }
  constexpr bool spans(const node& owner, int device) const { return spans_[entry(owner.first_region, device)]; }

  // Which devices have a part in an owner: those of what its regions compute, and of the variables that they read.
  constexpr void find_spans() {
    for (int i = 0; i < from_.nodes.count; ++i) {
      const node& x = from_.nodes[i];
      if (x.region == 0 || x.n_regions != 0 || is_source(i) || is_output(i) || (is_argument(i) && !is_variable(i)))
        continue;
      add_span(x.region, at_[i]);
    }
  }
  constexpr void add_span(int region, int device) {
    for (; region != 0; region = owner_of(region).region) {
      const int first = owner_of(region).first_region;
      if (spans_[entry(first, device)]) return;
      spans_[entry(first, device)] = true;
    }
  }

  // What an owner gives is where its regions compute it, if all of them do so on one device.
  constexpr void find_homes() {
    for (int i = 0; i < from_.nodes.count; ++i) {
      const node& x = from_.nodes[i];
      if (x.n_regions == 0) continue;
      if (first_part(x) < 0) add_span(x.first_region, at_[i]);
      for (int k = 0; k < x.outputs; ++k) {
        const int home = home_of(x, k, at_[i]);
        add_span(x.first_region, home);
        if (home == at_[i]) continue;
        home_.set(home_key(i, k), home);
        if (x.outputs > 1) at_[i + 1 + k] = home;
      }
    }
    // Of what the regions of a loop read of it.
    for (int i = 0; i < from_.nodes.count; ++i)
      if (is_argument(i) && !enters_unchanged(owner_of(from_.nodes[i].region), index_of(i)))
        at_[i] = home(from_.regions[from_.nodes[i].region].owner, index_of(i));
  }
  constexpr int first_part(const node& x) const {
    for (int d = 0; d < n_devices_; ++d)
      if (spans(x, d)) return d;
    return -1;
  }
  constexpr int home_of(const node& x, int k, int otherwise) const {
    const int first = x.first_region + (x.op->is(trait::iterates) ? 1 : 0);
    int found = -1;
    for (int r = first; r < x.first_region + x.n_regions; ++r) {
      const int e = from_.results(r)[k];
      if (is_source(e) || is_argument(e) || (found >= 0 && found != value_at(e))) return otherwise;
      found = value_at(e);
    }
    return found < 0 ? otherwise : found;
  }
  static constexpr std::uint64_t home_key(int owner, int k) { return key_of(0, k, owner); }
  constexpr int home(int owner, int k) const {
    const int found = home_.find(home_key(owner, k));
    return found < 0 ? at_[owner] : found;
  }
  // The device that has the value of a node.
  constexpr int value_at(int e) const {
    return from_.nodes[e].n_regions != 0 && from_.nodes[e].outputs == 1 ? home(e, 0) : at_[e];
  }

  // All parts of one owner have all its regions, those of one part beside each other.
  constexpr void make_regions() {
    for (int r = 1; r < from_.regions.count; ++r) {
      if (from_.regions[r].owner < 0) continue;  // nothing runs it any more
      const node& x = owner_of(r);
      for (int d = 0; d < n_devices_ && r == x.first_region; ++d)
        for (int k = r; k < r + x.n_regions && spans(x, d); ++k)
          region_[entry(k, d)] = result.graph.regions.push({-1, region_[entry(x.region, d)], 0, 0});
    }
  }

  constexpr void copy(int i) {
    const node& x = from_.nodes[i];
    if (x.n_regions != 0) return copy_owner(i, x);
    // Wherever they are read.
    if (is_argument(i) || (is_source(i) && x.region != 0)) return;
    if (is_output(i) && from_.nodes[from_.inputs(i)[0]].n_regions != 0) return;
    const int here = at_[i];
    detail::vec<int> edges(x.n_inputs);
    for (int k = 0; k < x.n_inputs; ++k) edges[k] = value(from_.edges[x.inputs + k], here, x.region);
    add_controls(edges, x, here);
    node y = x;
    y.n_control = static_cast<std::uint16_t>(edges.count - x.n_inputs);
    y.inputs = result.graph.edges.append(edges.data, edges.count);
    to_[i] = push(y, here, x.region, because_[i], model_[i], late_[i]);
    if (x.op->is(trait::writes_operand)) values_[outside(from_, from_.inputs(i)[0])] = from_.nodes.count + i;
  }

  // What x waits for: on its own device itself, of each other device and region one message for all.
  constexpr void add_controls(detail::vec<int>& edges, const node& x, int here) {
    detail::vec<waited> away;
    const int values = edges.count;
    for (int k = x.inputs + x.n_inputs; k < x.inputs + x.n_inputs + x.n_control; ++k) {
      int e = from_.edges[k];
      if (is_output(e) && from_.nodes[from_.inputs(e)[0]].n_regions != 0) e = from_.inputs(e)[0];
      const node& y = from_.nodes[e];
      if (is_argument(e) || (is_source(e) && y.region != 0)) continue;  // there is nothing to wait for
      for (int d = 0; d < n_devices_; ++d)                              // of a loop or a choice: all its parts
        if (y.n_regions == 0 ? d == at_[e] : spans(y, d))
          add_control(edges, away, {e, y.n_regions == 0 ? to_[e] : part(e, d), d, y.region}, here, values);
    }
    for (int k = 0; k < away.count; ++k) {
      if (away[k].node < 0) continue;
      const waited first = away[k];
      detail::vec<int> done;
      for (int n = k; n < away.count; ++n)
        if (away[n].node >= 0 && away[n].device == first.device && away[n].region == first.region)
          done.push(away[n].node);
      const int id = connect(done, false, first.of, first.device, here, first.region);
      for (int n = k; n < away.count; ++n)
        if (away[n].node >= 0 && away[n].device == first.device && away[n].region == first.region) {
          brought_.set(news_key(away[n].node, here), id);
          away[n].node = -1;
        }
      push_once(edges, id, values);
    }
  }
  struct waited {
    int of, node, device, region;  // of the graph that is cut; what stands for it there
  };
  constexpr void add_control(detail::vec<int>& edges, detail::vec<waited>& away, const waited& w, int here,
                             int values) {
    if (w.device == here) return push_once(edges, w.node, values);
    int found = brought_.find(news_key(w.node, here));
    // What has come as a value is no news.
    if (found < 0 && from_.nodes[w.of].n_regions == 0 && !from_.nodes[w.of].op->is(trait::source))
      found = brought_.find(value_key(w.of, here, w.region));
    if (found >= 0) return push_once(edges, found, values);
    for (const waited& other : away)
      if (other.node == w.node) return;
    away.push(w);
  }
  // Behind so many values.
  static constexpr void push_once(detail::vec<int>& edges, int id, int values) {
    for (int k = values; k < edges.count; ++k)
      if (edges[k] == id) return;
    edges.push(id);
  }
  static constexpr std::uint64_t news_key(int node, int device) { return key_of(-1, device, node); }
  constexpr int part(int owner, int device) const { return parts_.find(part_key(owner, device)); }
  static constexpr std::uint64_t part_key(int owner, int device) { return key_of(0, device, owner); }

  // A variable's value is sent again after each update of it.
  constexpr std::uint64_t value_key(int e, int device, int region) const {
    const bool own = at_[e] == device || (is_argument(e) ? enters(e) : is_source(e));
    return key_of(region, device, own ? e : values_[outside(from_, e)]);
  }
  // The value of e for nodes of its region on a device.
  constexpr int value(int e, int device, int region) {
    const node& x = from_.nodes[e];
    const bool made_where_read = is_argument(e) ? enters(e) : is_source(e);
    if (!made_where_read && !is_argument(e) && value_at(e) == device) return to_[e];
    const std::uint64_t key = value_key(e, device, region);
    const int found = brought_.find(key);
    if (found >= 0) return found;
    int id = 0;
    if (is_source(e)) {
      node y = x;
      y.n_control = 0;
      id = region == 0 && at_[e] == device
               ? to_[e]
               : push(y, device, region, placed::crossing, model_[e], region != 0 && late_of(region));
    } else if (is_argument(e) && (made_where_read || at_[e] == device)) {
      id = stand_for(e, device);
    } else {
      const int there = value(e, value_at(e), region);
      id = connect({&there, 1}, true, e, value_at(e), device, region);
    }
    brought_.set(key, id);
    return id;
  }
  // Does it enter every part by itself? A variable is read and written where it is, and what a loop carries has one
  // home.
  constexpr bool enters(int argument) const {
    return enters_unchanged(owner_of(from_.nodes[argument].region), index_of(argument)) && !is_variable(argument);
  }
  // An argument of a part.
  constexpr int stand_for(int argument, int device) {
    node y = from_.nodes[argument];
    const int owner = from_.regions[y.region].owner, k = index_of(argument);
    y.attrs = result.graph.words.push(place_of(owner, k, device));
    y.n_control = 0;
    return push(y, device, y.region, because_[argument], model_[argument], late_of(y.region));
  }
  // Which input of a part the k-th input of its owner is: first what the part carries or chooses by, then what has
  // entered so far.
  constexpr int place_of(int owner, int k, int device) {
    const node& x = from_.nodes[owner];
    int own = 1;
    if (x.op->is(trait::iterates)) {
      own = 0;
      for (int n = 0; n < x.outputs; ++n) {
        if (n == k) return own;
        own += home(owner, n) == device;
      }
    } else if (k == 0) {
      return 0;
    }
    // A list for each part, backwards; how long it was tells the place.
    int& head = captured_[entry(x.first_region, device)];
    for (int c = head; c != 0; c = captures_[c - 1].next)
      if (captures_[c - 1].input == k) return own + captures_[c - 1].place;
    // It is there before the argument that stands for it.
    const int place = head == 0 ? 0 : captures_[head - 1].place + 1, before = head;
    const int outside = value(from_.edges[x.inputs + k], device, x.region);
    head = captures_.push({k, place, outside, before}) + 1;
    return own + place;
  }

  constexpr void copy_owner(int i, const node& x) {
    const bool loop = x.op->is(trait::iterates);
    graph_data& g = result.graph;
    detail::vec<node> parts(n_devices_);
    // Everything is there before the first of them, so that nothing stands between them.
    for (int d = 0; d < n_devices_; ++d) {
      if (!spans(x, d)) continue;
      detail::vec<int> given;
      for (int k = 0; k < x.outputs; ++k)
        if (home(i, k) == d) given.push(k);
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
        give_results(r, d, loop && r == x.first_region, given);
      detail::vec<int> edges;
      if (loop)
        for (const int k : given) edges.push(value(from_.edges[x.inputs + k], d, x.region));
      else
        edges.push(value(from_.edges[x.inputs], d, x.region));
      const int own = edges.count, head = captured_[entry(x.first_region, d)];
      const int n_captured = head == 0 ? 0 : captures_[head - 1].place + 1;
      for (int k = 0; k < n_captured; ++k) edges.push(0);
      for (int c = head; c != 0; c = captures_[c - 1].next)
        edges[own + captures_[c - 1].place] = captures_[c - 1].outside;
      node& y = parts[d];
      y = x;
      y.n_inputs = static_cast<std::uint16_t>(edges.count);
      y.outputs = static_cast<std::uint8_t>(given.count);
      const int first = given.count == 0 ? -1 : x.outputs > 1 ? i + 1 + given[0] : i;
      y.shape = first < 0 ? 0 : from_.nodes[first].shape;
      y.type = first < 0 ? dtype::none : from_.nodes[first].type;
      add_controls(edges, x, d);
      y.n_control = static_cast<std::uint16_t>(edges.count - y.n_inputs);
      y.inputs = g.edges.append(edges.data, edges.count);
      y.first_region = region_[entry(x.first_region, d)];
    }
    for (int d = 0; d < n_devices_; ++d)
      if (spans(x, d)) push_part(i, x, parts[d], d);
    to_[i] = part(i, x.outputs == 1 ? home(i, 0) : first_part(x));
  }
  constexpr void push_part(int i, const node& x, const node& y, int d) {
    graph_data& g = result.graph;
    const int id = push(y, d, x.region, because_[i], model_[i], late_[i]);
    parts_.set(part_key(i, d), id);
    for (int r = y.first_region; r < y.first_region + y.n_regions; ++r) g.regions[r].owner = id;
    int place = 0;
    for (int k = 0; k < x.outputs && x.outputs > 1; ++k) {
      if (home(i, k) != d) continue;
      to_[i + 1 + k] = id;
      if (y.outputs == 1) continue;
      node o = from_.nodes[i + 1 + k];
      o.inputs = g.edges.append(&id, 1);
      o.attrs = g.words.push(place++);
      to_[i + 1 + k] = push(o, d, x.region, because_[i], model_[i + 1 + k], late_[i]);
    }
  }
  // What a region gives to its part on a device, then what has an effect there.
  constexpr void give_results(int r, int d, bool condition, detail::slice<int> given) {
    const region& x = from_.regions[r];
    const int values = condition ? 1 : from_.nodes[x.owner].outputs;
    detail::vec<int> results;
    if (condition)
      results.push(value(from_.edges[x.results], d, r));
    else
      for (const int k : given) results.push(value(from_.edges[x.results + k], d, r));
    for (int k = x.results + values; k < x.results + x.n_results; ++k) {
      const int e = from_.edges[k];
      if (from_.nodes[e].n_regions != 0) {
        if (spans(from_.nodes[e], d)) results.push(part(e, d));
      } else if (at_[e] == d && !is_argument(e) && !is_source(e)) {
        results.push(to_[e]);
      }
    }
    region& y = result.graph.regions[region_[entry(r, d)]];
    y.results = result.graph.edges.append(results.data, results.count);
    y.n_results = results.count;
  }

  // region: of the graph that is cut.
  constexpr int push(const node& x, int device, int region, placed why, int model, bool is_late) {
    node y = x;
    y.region = region_[entry(region, device)];
    device_.push(device);
    why_.push(why);
    late.push(is_late);
    result.model.push(model);
    return result.graph.nodes.push(y);
  }
  constexpr bool late_of(int region) const { return late_[outermost_owner(from_, region)]; }

  // The value of e or, without one, the news that nodes of the result are done: `about` one of those that they stand
  // for.
  constexpr int connect(detail::slice<int> what, bool value, int about, int from, int to, int region) {
    graph_data& g = result.graph;
    const node& x = from_.nodes[about];
    const int channel = g.words.push(channels_++), model = result.model[what[0]];
    bool is_late = region != 0 && late_of(region);
    for (const int w : what) is_late = is_late || late[w];
    if (value && x.op->id == ops::variable::id) is_late = is_late || values_[about] >= from_.nodes.count;
    node s{};
    s.op = &op_def_of<ops::send>;
    s.inputs = g.edges.append(what.data, what.count);
    s.n_inputs = value;
    s.n_control = static_cast<std::uint16_t>(value ? 0 : what.count);
    s.attrs = channel;
    s.n_attrs = 1;
    push(s, from, region, placed::crossing, model, is_late);
    node r{};
    r.op = &op_def_of<ops::recv>;
    r.attrs = channel;
    r.n_attrs = 1;
    if (value) {
      r.outputs = 1;
      r.shape = x.shape;
      r.type = x.type;
    }
    return push(r, to, region, placed::crossing, model, is_late);
  }

  // An input of an owner that has entered one of its parts.
  struct capture {
    int input, place, outside, next;
  };

  graph_view from_;
  detail::slice<int> model_;
  int n_devices_;
  detail::vec<int> at_;  // of each node: its device; of what an owner gives: where that is
  detail::slice<placed> because_;
  detail::vec<int> to_;      // of each node, at home
  detail::vec<int> values_;  // of each node: what a read of it gives now
  detail::vec<int> region_;  // of each region and device
  detail::vec<bool> spans_;  // of each owner, by its first region, and device
  detail::vec<int> captured_;
  detail::vec<capture> captures_;
  detail::vec<bool> late_;
  detail::vec<int> device_;  // of each node of the result
  detail::vec<placed> why_;
  detail::hash_map home_, parts_, brought_;
  std::int64_t channels_ = 0;
};

// False: nothing crosses devices, and nothing is done. Otherwise `cut` is the graph in which every node reads and
// waits for nodes of its own device only; a send and a recv belong together by their channel. The placement is that
// graph's.
constexpr bool partition(const draft_view& d, placement& p, draft& cut) {
  bool several = false;
  for (int i = 1; i < p.device.count && !several; ++i) several = p.device.data[i] != p.device.data[0];
  if (!several) return false;
  partitioner parts(d, p);
  bool updates = false;
  for (int i = 0; i < parts.late.count && !updates; ++i) updates = parts.late[i];
  if (updates) {
    late_placer last(parts.result, parts.made, parts.late);
    cut = static_cast<draft&&>(last.result);
    parts.made = static_cast<placement&&>(last.placed_at);
  } else {
    cut = static_cast<draft&&>(parts.result);
  }
  p.device = static_cast<detail::vec<int>&&>(parts.made.device);
  p.why = static_cast<detail::vec<placed>&&>(parts.made.why);
  return true;
}

}  // namespace flowgraph::passes
