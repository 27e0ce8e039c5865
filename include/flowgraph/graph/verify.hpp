// Is a graph what passes take for granted? Run at both ends of the pipeline and in tests of every pass, so that a
// mistake of a pass is found where it was made.
#pragma once
#include <cstdint>
#include <type_traits>

#include "graph_data.hpp"

namespace flowgraph {

// The first problem of a graph and the node that has it.
struct graph_fault {
  problem why = problem::none;
  int node = -1;
};

namespace detail {

class verifier {
 public:
  constexpr explicit verifier(const graph_view& g) : g_(g) {
    for (const symbol& s : g.symbol_entries) symbols_.intern(text_view(g.symbol_chars.data + s.text, s.length));
    checked_.reserve(g.size());
    for (int i = 0; i < g.size() && fault.why == problem::none; ++i) check(i);
    for (int r = 1; r < g.regions.size() && fault.why == problem::none; ++r) check_region(r);
  }

  graph_fault fault;

 private:
  constexpr void require(bool ok, int id, problem otherwise = problem::invalid_graph) {
    if (!ok && fault.why == problem::none) fault = {otherwise, id};
  }

  constexpr void check(int i) {
    const node& x = g_.nodes.data[i];
    // Following a null pointer is no constant expression anyway, and g++ can't compare it there under its sanitizers.
    if (!std::is_constant_evaluated() && x.op == nullptr) return require(false, i);
    bool ok = x.inputs >= 0 && x.inputs + x.n_inputs + x.n_control <= g_.edges.count && x.attrs >= 0 &&
              x.attrs + x.n_attrs <= g_.words.count && x.shape >= 0 && x.shape < g_.shapes.count && x.region >= 0 &&
              x.region < g_.regions.count && (x.type == dtype::none) == (x.outputs == 0);
    if (!ok) return require(false, i);
    const int *in = g_.edges.data + x.inputs, *end = in + x.n_inputs, *last = end + x.n_control;
    std::uint64_t h = x.op->id ^ static_cast<std::uint64_t>(x.shape) << 32 ^ static_cast<std::uint64_t>(x.type) << 24;
    for (; in != end && ok; ++in) {
      ok = *in >= 0 && *in < i && g_.nodes.data[*in].region == x.region && g_.nodes.data[*in].type != dtype::none;
      if (ok) h = mix(h, static_cast<std::uint64_t>(g_.nodes.data[*in].shape) << 8 | key(g_.nodes.data[*in].type));
    }
    for (; in != last && ok; ++in) ok = *in >= 0 && *in < i && around(g_.nodes.data[*in].region, x.region);
    if (!ok) return require(false, i);
    if (x.outputs > 1) check_outputs(i);
    if (x.n_regions != 0) return check_owner(i);
    if (x.op->id == ops::output::id) return check_output(i);
    if (x.op->id == ops::argument::id) return check_argument(i);
    // The rule is asked once for all nodes that look alike to it.
    for (const std::int64_t *w = g_.words.data + x.attrs, *words_end = w + x.n_attrs; w != words_end; ++w)
      h = mix(h, static_cast<std::uint64_t>(*w));
    if (x.outputs > 1 || checked_.find_or_set(h, i) < 0) ask_rule(i);
  }
  static constexpr std::uint64_t key(dtype t) { return static_cast<std::uint64_t>(t); }

  // Is region `outer` the region `inner`, or around it?
  constexpr bool around(int outer, int inner) const {
    while (inner != outer && inner > 0) inner = g_.regions[inner].parent;
    return inner == outer;
  }

  constexpr void ask_rule(int i) {
    const node& x = g_.nodes[i];
    if (x.n_inputs > inference::max_operands) return;
    inference f(symbols_);
    for (const int in : g_.inputs(i)) f.operand(g_.shape_of(in), g_.nodes[in].type);
    f.attributes(g_.words.data + x.attrs);
    f.declare(g_.shape_of(i), x.type);
    x.op->infer(f);
    require(f.why() == problem::none, i, f.why());
    require(f.outputs() == x.outputs, i);
    for (int k = 0; k < f.outputs() && fault.why == problem::none; ++k) {
      const int id = x.outputs > 1 ? i + 1 + k : i;
      require(f.out(k) == g_.shape_of(id) && f.out_type(k) == g_.nodes[id].type, i);
    }
  }

  // Right behind a node with several results stand its outputs, in order.
  constexpr void check_outputs(int i) {
    for (int k = 0; k < g_.nodes[i].outputs; ++k) {
      const int id = i + 1 + k;
      require(id < g_.size() && g_.nodes[id].op->id == ops::output::id && g_.nodes[id].n_inputs == 1 &&
                  g_.inputs(id)[0] == i && g_.nodes[id].n_attrs == 1 && g_.attrs(id)[0] == k,
              i);
      if (fault.why != problem::none) return;
    }
  }
  constexpr void check_output(int i) {
    const node& x = g_.nodes[i];
    require(x.n_inputs == 1 && x.n_attrs == 1, i);
    if (fault.why != problem::none) return;
    const int from = g_.inputs(i)[0];
    require(g_.nodes[from].outputs > 1 && i - from - 1 == g_.attrs(i)[0], i);
  }

  // Stands for an input of the region's owner, which was there before.
  constexpr void check_argument(int i) {
    const node& x = g_.nodes[i];
    const int owner = g_.regions[x.region].owner;
    require(x.region != 0 && owner > i && owner < g_.size() && x.n_attrs == 1, i);
    if (fault.why != problem::none) return;
    const std::int64_t k = g_.attrs(i)[0];
    require(k >= 0 && k < g_.nodes[owner].n_inputs, i);
    if (fault.why != problem::none) return;
    const int outside = g_.inputs(owner)[static_cast<int>(k)];
    require(outside < owner && g_.nodes[outside].shape == x.shape && g_.nodes[outside].type == x.type, i);
  }
  constexpr void check_owner(int i) {
    const node& x = g_.nodes[i];
    require(x.first_region > 0 && x.first_region + x.n_regions <= g_.regions.count, i);
    for (int r = x.first_region; r < x.first_region + x.n_regions && fault.why == problem::none; ++r)
      require(g_.regions[r].owner == i && g_.regions[r].parent == x.region && gives_results(x, i, r), i);
  }
  // The condition of a loop gives one boolean, every other region what the owner does. Behind it stands what has an
  // effect.
  constexpr bool gives_results(const node& x, int i, int r) const {
    const bool loop = x.op->is(trait::iterates), condition = loop && r == x.first_region;
    if (g_.regions[r].n_results < (condition ? 1 : x.outputs)) return false;
    for (int k = 0; k < x.outputs && !condition; ++k) {
      const node &given = g_.nodes[g_.results(r)[k]], &wanted = g_.nodes[x.outputs > 1 ? i + 1 + k : i];
      if (given.shape != wanted.shape || given.type != wanted.type) return false;
      if (loop && (g_.nodes[g_.inputs(i)[k]].shape != wanted.shape || g_.nodes[g_.inputs(i)[k]].type != wanted.type))
        return false;
    }
    return true;
  }

  // All of its nodes stand before the owner, its results among them.
  constexpr void check_region(int r) {
    const region& x = g_.regions[r];
    if (x.owner < 0) return require(x.n_results == 0, x.owner);
    require(x.owner < g_.size() && x.parent >= 0 && x.parent < r && x.results >= 0 &&
                x.results + x.n_results <= g_.edges.count,
            x.owner);
    if (fault.why != problem::none) return;
    for (const int e : g_.results(r)) require(e >= 0 && e < x.owner && g_.nodes[e].region == r, x.owner);
    for (int i = x.owner; i < g_.size(); ++i) require(g_.nodes[i].region != r, i);
  }

  const graph_view& g_;
  flowgraph::symbols symbols_;
  hash_map checked_;
};

}  // namespace detail

constexpr graph_fault verify(const graph_view& g) { return detail::verifier(g).fault; }

}  // namespace flowgraph
