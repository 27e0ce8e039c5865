// A graph under construction: the tables behind graph_view, and the few ways to add to them. The same code runs
// in a constant expression and at run time.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <flowgraph/core/error.hpp>
#include <flowgraph/core/hash_map.hpp>
#include "node.hpp"
#include "structural.hpp"

namespace flowgraph {

// The first mistake found while a graph was built in a constant expression; define() reports it. At run time the
// same mistake is thrown.
struct fault {
  problem why = problem::none;
  std::string_view subject;  // an op's name, or what the user wrote
  int line = 0;
};

class graph_data {
 public:
  constexpr graph_data() {
    texts.push({});
    regions.push({-1, 0, 0, 0});
    intern_shape(extents{});
  }

  detail::vec<node> nodes;
  detail::vec<origin> origins;
  detail::vec<int> edges;
  detail::vec<std::int64_t> words;
  detail::vec<shape_entry> shapes;
  detail::vec<extent> dims;
  flowgraph::symbols symbols;
  detail::vec<name_entry> names;
  detail::vec<text_range> texts;
  detail::vec<char> chars;
  detail::vec<region> regions;
  fault first_fault;

  // What the next node gets.
  source where{"", 0};
  int scope = 0;
  int device = 0;
  int current_region = 0;
  bool at_end = false;
  int shares_variables = 0;  // 1: a variable of a name that is there is that variable

  detail::vec<int> derivatives;  // what fg::gradients gave
  // Updates that nobody runs unless a name leads to them; define() asks whether one does.
  struct noted_update {
    int id;
    std::string_view what;
  };
  detail::vec<noted_update> noted_updates;
  constexpr void note_update(int id, std::string_view what) {
    if (current_region == 0) noted_updates.push({id, what});
  }

  constexpr graph_view view() const {
    return {.nodes = nodes,
            .origins = origins,
            .edges = edges,
            .words = words,
            .shapes = shapes,
            .dims = dims,
            .symbol_entries = symbols.entries(),
            .symbol_chars = symbols.chars(),
            .names = names,
            .texts = texts,
            .chars = chars,
            .regions = regions};
  }
  constexpr int size() const { return nodes.size(); }
  constexpr const int* inputs(int id) const { return edges.data + nodes.data[id].inputs; }
  constexpr extents shape(int shape_id) const {
    const shape_entry& s = shapes.data[shape_id];
    extents e;
    e.rank = s.rank;
    for (int i = 0; i < s.rank; ++i) e.d[i] = dims.data[s.dims + i];
    return e;
  }
  constexpr extents shape_of(int id) const { return shape(nodes.data[id].shape); }

  // Shapes are interned: equal shapes have equal ids.
  FLOWGRAPH_CONSTEXPR int intern_shape(const extents& e) {
    std::uint64_t h = shape_seed(e.rank);
    for (int i = 0; i < e.rank; ++i) h = detail::mix(h, symbols.hash(e.d[i]));
    const int found = find_shape(h);
    if (found >= 0) return found;
    const int first = dims.size();
    for (int i = 0; i < e.rank; ++i) dims.push(e.d[i]);
    return add_shape({first, e.rank, h});
  }
  // -1: not there. A typed handle knows its shape's hash and asks by it.
  constexpr int find_shape(std::uint64_t h) const { return shape_ids_.find(h); }
  static constexpr std::uint64_t shape_seed(int rank) { return 0x5eedu + static_cast<unsigned>(rank); }

  constexpr text_range store(std::string_view s) {
    return {chars.append(s.data(), static_cast<int>(s.size())), static_cast<int>(s.size())};
  }
  constexpr std::string_view text(text_range r) const { return detail::text_view(chars.begin() + r.begin, r.length); }
  // Names that follow get this one in front: "layer1/w".
  FLOWGRAPH_CONSTEXPR void enter_scope(std::string_view s) {
    const std::uint64_t h = detail::hash("/", scoped_hash(s));
    const int begin = append_scoped(s);
    scope = texts.push({begin, chars.count - begin});
    while (scope_hashes_.count < scope) scope_hashes_.push(0);
    scope_hashes_.push(h);
  }
  // A device constraint by its text; equal texts get equal ids.
  FLOWGRAPH_CONSTEXPR int intern_text(std::string_view s) {
    for (int i = 0; i < texts.size(); ++i)
      if (text(texts[i]) == s) return i;
    return texts.push(store(s));
  }

  // Appends a node whose shape and type are already known. The inputs may lie outside the current region, and
  // must not lie in this graph's own edges. Written in few statements: it runs once for every node that there is.
  FLOWGRAPH_CONSTEXPR int append(const op_def& op, int shape, dtype type, const int* in, int n_in,
                                 const std::int64_t* attr_words = nullptr, int n_attrs = 0) {
    const int first_edge = regions.count == 1 ? edges.append(in, n_in) : append_captured(in, n_in);
    if (pending_controls_.count > 0) edges.append(pending_controls_.data, pending_controls_.count);
    return origins.push({where, scope}),
           nodes.push({.op = &op,
                       .inputs = first_edge,
                       .attrs = n_attrs > 0 ? words.append(attr_words, n_attrs) : words.count,
                       .shape = shape,
                       .region = current_region,
                       .first_region = 0,
                       .device = device,
                       .n_attrs = n_attrs,
                       .n_inputs = static_cast<std::uint16_t>(n_in),
                       .n_control = static_cast<std::uint16_t>(pending_controls_.count),
                       .n_regions = 0,
                       .outputs = type != dtype::none,
                       .type = type,
                       .at_end = at_end});
  }

  // Nodes appended while controls are pending run after them.
  constexpr void push_control(int id) { pending_controls_.push(id); }
  constexpr void pop_controls(int n) {
    for (int i = 0; i < n; ++i) pending_controls_.pop();
  }

  // Regions. An op's regions get consecutive ids: reserve_regions, then for each of them enter_region, its arguments
  // and nodes, and close_region with its results; the owner is appended last, by append_owner, which gives it one
  // extra input for each value that its regions captured.
  constexpr int reserve_regions(int n) {
    const int first = regions.size();
    for (int i = 0; i < n; ++i) {
      regions.push({-1, current_region, 0, 0});
      begin_of(first + i).capture = captures_.count;
    }
    return first;
  }
  constexpr void enter_region(int r) {
    current_region = r;
    region_begin& b = begin_of(r);
    if (b.node < 0) b.node = nodes.size();
  }
  constexpr int append_argument(int index, int shape, dtype type) {
    const std::int64_t word = index;
    return append(op_def_of<ops::argument>, shape, type, nullptr, 0, &word, 1);
  }
  // Behind the results: what has an effect. Nobody outside can ask for it, so it runs whenever the region does.
  FLOWGRAPH_CONSTEXPR void close_region(const int* results, int n) {
    detail::vec<int> inside(n);
    for (int i = 0; i < n; ++i) inside[i] = capture(results[i], current_region);
    for (int i = begin_of(current_region).node; i < nodes.size(); ++i)
      if (nodes[i].region == current_region && has_effect(nodes[i])) inside.push(i);
    region& r = regions[current_region];
    r.results = edges.size();
    r.n_results = inside.size();
    for (int i = 0; i < inside.size(); ++i) edges.push(inside[i]);
    current_region = r.parent;
  }
  // Its results are like these nodes. replaced: an owner that this one stands for wherever both are needed, because it
  // does the same and more; it is the last of the control edges.
  FLOWGRAPH_CONSTEXPR int append_owner(const op_def& op, const int* like, int n_out, int first_region, int n_regions,
                                       const int* in, int n_in, const std::int64_t* attr_words = nullptr,
                                       int n_attrs = 0, int replaced = -1) {
    detail::vec<int> all;
    for (int i = 0; i < n_in; ++i) all.push(in[i]);
    for (int k = begin_of(first_region).capture; k < captures_.count; ++k)
      if (const captured c = captures_[k]; c.region >= first_region && c.region < first_region + n_regions) {
        int at = n_in;
        while (at < all.size() && all[at] != c.outer) ++at;
        if (at == all.size()) all.push(c.outer);
        words[nodes[c.argument].attrs] = at;
      }
    const int shape = n_out == 0 ? 0 : nodes[like[0]].shape;
    const dtype type = n_out == 0 ? dtype::none : nodes[like[0]].type;
    const int id = append(op, shape, type, all.begin(), all.size(), attr_words, n_attrs);
    nodes[id].first_region = first_region;
    nodes[id].n_regions = static_cast<std::uint8_t>(n_regions);
    nodes[id].outputs = static_cast<std::uint8_t>(n_out);
    if (replaced >= 0) edges.push(replaced), ++nodes[id].n_control;
    for (int r = first_region; r < first_region + n_regions; ++r) regions[r].owner = id;
    for (std::int64_t k = 0; n_out > 1 && k < n_out; ++k)
      append(op_def_of<ops::output>, nodes[like[k]].shape, nodes[like[k]].type, &id, 1, &k, 1);
    return id;
  }
  // An argument that was made by hand, standing for a value of the region around.
  constexpr void add_capture(int r, int outer, int argument) { captures_.push({r, outer, outer, argument}); }
  // What an argument stands for in the region around; -1: it was captured by nobody.
  constexpr int captured_by(int argument) const {
    for (int k = captures_begin(nodes[argument].region); k < captures_.count; ++k)
      if (captures_[k].argument == argument) return captures_[k].outer;
    return -1;
  }

  // Derivatives of region `forward` are added to region `backward`: values of the former that the latter reads must be
  // kept for it. There, each is taken from a stack, or, where it is known how many turns there can be, from an array
  // with a row for each; whoever made the pair puts them there.
  struct kept_value {
    int region, value, node;
    int from;  // argument: the stack or array; -1: it needs none
  };
  struct region_pair {
    int backward, forward;
    const op_def* take;  // (stack) -> value, stack; or (array, row) -> value
    extent most;         // rows; 0: a stack
    int row;             // node
  };
  constexpr void pair_regions(const region_pair& p) { pairs_.push(p); }
  constexpr detail::slice<kept_value> kept() const { return kept_; }
  // This node of the backward region has what that value had in the forward turn: it need not be kept.
  constexpr void stands_for(int backward, int value, int node) { kept_.push({backward, value, node, -1}); }

  // f() adds nodes to the graph itself, whatever is being built: what a region can't own.
  template <class F>
  constexpr auto at_top(const F& f) {
    if (current_region == 0 && pending_controls_.count == 0) return f();
    const int region = current_region;
    detail::vec<int> controls = static_cast<detail::vec<int>&&>(pending_controls_);
    pending_controls_ = detail::vec<int>();
    current_region = 0;
    const auto result = f();
    current_region = region;
    pending_controls_ = static_cast<detail::vec<int>&&>(controls);
    return result;
  }
  // The node inside region r that stands for a value from outside.
  FLOWGRAPH_CONSTEXPR int capture(int id, int r) {
    if (nodes[id].region == r) return id;
    for (int k = captures_begin(r); k < captures_.count; ++k)
      if (captures_[k].region == r && captures_[k].value == id) return captures_[k].argument;
    for (const region_pair& p : pairs_)
      if (p.backward == r && p.forward == nodes[id].region) return keep(id, p);
    if (r == 0) {
      fail(problem::left_region, nodes[id].op->name);
      return id;
    }
    const int outer = capture(id, regions[r].parent);
    const int saved = current_region;
    current_region = r;
    const int argument = append_argument(-1, nodes[outer].shape, nodes[outer].type);
    current_region = saved;
    captures_.push({r, id, outer, argument});
    return argument;
  }
  constexpr void name(int id, std::string_view wanted) { add_name(id, append_scoped(wanted), scoped_hash(wanted)); }
  // The first node of this name in the present scope; -1: there is none.
  constexpr int find_in_scope(std::string_view wanted) const {
    const int found = name_ids_.find(scoped_hash(wanted));
    return found < 0 ? -1 : names.data[found].node;
  }
  // A name below another one: "w" and "momentum" give "w/momentum".
  FLOWGRAPH_CONSTEXPR void name_below(int id, text_range base, std::string_view wanted) {
    const int begin = chars.size();
    chars.append_own(base.begin, base.length);
    chars.push('/');
    chars.append(wanted.data(), static_cast<int>(wanted.size()));
    add_name(id, begin, detail::hash(text({begin, chars.count - begin})));
  }

  // Records the first mistake of a constant evaluation; throws at run time.
  constexpr void fail(problem why, std::string_view subject) {
    if (!std::is_constant_evaluated()) throw_fault(why, subject);
    if (first_fault.why == problem::none) first_fault = {why, subject, where.line};
  }

 private:
  // Of a region: its first node, -1 until it is entered, and what had been captured before there was anything in it.
  struct region_begin {
    int node = -1, capture = 0;
  };
  struct captured {
    int region, value, outer, argument;  // value: what was named; outer: what stands for it in the parent
  };

  [[noreturn]] void throw_fault(problem why, std::string_view subject) const {
    detail::extent_text line;
    line.append(static_cast<std::int64_t>(where.line));
    const std::initializer_list<std::string_view> message = {where.file, ":",    line.view(),  ": \"",
                                                             subject,    "\": ", sentence(why)};
    if (why == problem::learning_rate || why == problem::hyper_parameter || why == problem::clip_bounds)
      throw argument_error(why, message);
    throw graph_error(why, message);
  }

  constexpr int add_shape(const shape_entry& s) {
    const int id = shapes.push(s);
    shape_ids_.set(s.hash, id);
    return id;
  }

  // What stands for a value of p.forward in p.backward: another one of what needs no operands, what was there before
  // the loop, or what was kept.
  FLOWGRAPH_CONSTEXPR int keep(int id, const region_pair& p) {
    const region_pair pair = p;
    for (const kept_value& k : kept_)
      if (k.region == pair.backward && k.value == id) return k.node;
    const node x = nodes[id];
    if (x.op->id == ops::argument::id) {
      const int outer = captured_by(id);
      if (outer >= 0) return capture(outer, pair.backward);
    }
    const int saved = current_region;
    current_region = pair.backward;
    kept_value k{pair.backward, id, -1, -1};
    if (x.op->is(trait::source) && x.op->id != ops::argument::id) {
      const detail::vec<std::int64_t> copy(detail::slice<std::int64_t>{words.data + x.attrs, x.n_attrs});
      k.node = append(*x.op, x.shape, x.type, nullptr, 0, copy.data, copy.count);
    } else if (pair.most != 0) {
      extents rows;
      rows.push(pair.most);
      for (int i = 0; i < shapes[x.shape].rank; ++i) rows.push(shape(x.shape)[i]);
      k.from = append_argument(-1, intern_shape(rows), x.type);
      const int in[] = {k.from, pair.row};
      k.node = append(*pair.take, x.shape, x.type, in, 2);
    } else {
      k.from = append_argument(-1, 0, dtype::float64);
      const int popped = append(*pair.take, x.shape, x.type, &k.from, 1);
      nodes[popped].outputs = 2;
      const std::int64_t index[] = {0, 1};
      k.node = append(op_def_of<ops::output>, x.shape, x.type, &popped, 1, &index[0], 1);
      append(op_def_of<ops::output>, 0, dtype::float64, &popped, 1, &index[1], 1);
    }
    current_region = saved;
    kept_.push(k);
    return k.node;
  }
  constexpr region_begin& begin_of(int region) {
    while (region_begins_.count <= region) region_begins_.push({});
    return region_begins_[region];
  }
  constexpr int captures_begin(int region) const {
    return region < region_begins_.count ? region_begins_[region].capture : 0;
  }
  FLOWGRAPH_CONSTEXPR bool has_effect(const node& x) const {
    for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
      if (regions[r].n_results > (x.op->is(trait::iterates) && r == x.first_region ? 1 : x.outputs)) return true;
    return x.op->is(trait::stateful) && !x.op->is(trait::source);
  }

  FLOWGRAPH_CONSTEXPR int append_captured(const int* in, int n_in) {
    detail::vec<int> inside(n_in);  // captures append nodes and edges of their own: resolve them first
    for (int i = 0; i < n_in; ++i) inside[i] = capture(in[i], current_region);
    return edges.append(inside.data, n_in);
  }

  // The text behind the present scope; its first character.
  constexpr int append_scoped(std::string_view s) {
    const int begin = chars.count;
    if (scope != 0) chars.append_own(texts.data[scope].begin, texts.data[scope].length), chars.push('/');
    chars.append(s.data(), static_cast<int>(s.size()));
    return begin;
  }
  // The hash of that text. A scope's is kept, so that its characters are counted once and not with every name in it.
  constexpr std::uint64_t scoped_hash(std::string_view s) const {
    return scope == 0 ? detail::hash(s) : detail::hash(s, scope_hashes_.data[scope]);
  }

  // Names a node by the characters from begin on, whose hash this is: "w", then "w_1", "w_2", ...
  FLOWGRAPH_CONSTEXPR void add_name(int id, int begin, std::uint64_t h) {
    const int taken = name_ids_.find_or_set(h, names.count);
    if (taken >= 0) h = append_number(h, taken);
    names.push({id, {begin, chars.count - begin}, h});
    name_uses_.push(1);
  }
  FLOWGRAPH_CONSTEXPR std::uint64_t append_number(const std::uint64_t base, int taken) {
    const int plain = chars.count;
    for (int k = name_uses_.data[taken]++;; ++k) {  // a user may have named another node "w_1" already
      chars.count = plain;
      chars.push('_');
      int power = 1;
      while (k / power >= 10) power *= 10;
      for (; power > 0; power /= 10) chars.push(static_cast<char>('0' + k / power % 10));
      const std::uint64_t h = detail::hash(detail::text_view(chars.data + plain, chars.count - plain), base);
      if (name_ids_.find_or_set(h, names.count) < 0) return h;
    }
  }

  detail::hash_map name_ids_;                // from a name's hash to names
  detail::vec<int> name_uses_;               // of each name: how often it was asked for
  detail::vec<std::uint64_t> scope_hashes_;  // of each text that is a scope, with the "/" behind it
  detail::hash_map shape_ids_;
  detail::vec<int> pending_controls_;
  detail::vec<captured> captures_;
  detail::vec<region_begin> region_begins_;
  detail::vec<region_pair> pairs_;
  detail::vec<kept_value> kept_;
};

}  // namespace flowgraph
