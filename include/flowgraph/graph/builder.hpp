// Untyped building, for what is written on values: gradients, simplifications, optimizers. A ref is a node of a
// graph that is being built; emit appends an op after asking its rule.
#pragma once
#include <cstdint>
#include <type_traits>

#include "graph_data.hpp"
#include "inference.hpp"

namespace flowgraph {

struct ref {
  graph_data* graph = nullptr;
  int id = -1;

  constexpr explicit operator bool() const { return id >= 0; }
  constexpr const node& get() const { return graph->nodes.data[id]; }
  constexpr extents shape() const { return graph->shape_of(id); }
  constexpr dtype type() const { return graph->nodes.data[id].type; }
  constexpr int rank() const { return graph->shapes.data[get().shape].rank; }
  constexpr bool is(const op_def& op) const { return get().op->id == op.id; }
  constexpr ref input(int i) const { return {graph, graph->inputs(id)[i]}; }
  template <class A>
  constexpr A attrs() const {
    return detail::attrs_from_words<A>(graph->words.begin() + get().attrs);
  }
};

namespace detail {

// Appends a node of any op. Of several results each gets an `output` node behind it; the node itself is returned.
FLOWGRAPH_CONSTEXPR int append_inferred(graph_data& g, const op_def& op, const int* in, int n_in,
                                        const std::int64_t* words, int n_words, const extents& declared = {},
                                        dtype declared_type = dtype::none) {
  inference f(g.symbols);
  for (int i = 0; i < n_in; ++i) f.operand(g.shape_of(in[i]), g.nodes.data[in[i]].type);
  f.attributes(words);
  f.declare(declared, declared_type);
  op.infer(f);
  if (f.why() != problem::none) g.fail(f.why(), op.name);
  if (f.outputs() == 0) return g.append(op, 0, dtype::none, in, n_in, words, n_words);
  const int id = g.append(op, g.intern_shape(f.out(0)), f.out_type(0), in, n_in, words, n_words);
  if (f.outputs() > 1) {
    g.nodes[id].outputs = static_cast<std::uint8_t>(f.outputs());
    for (int k = 0; k < f.outputs(); ++k) {
      const std::int64_t index = k;
      g.append(op_def_of<ops::output>, g.intern_shape(f.out(k)), f.out_type(k), &id, 1, &index, 1);
    }
  }
  return id;
}

}  // namespace detail

namespace detail {

// Same type and same shapes (or scalars) in: the first operand's out. Spares most nodes of a gradient the rule. It is
// no template, so that each op that gradients emit costs little to compile.
FLOWGRAPH_CONSTEXPR ref emit_node(graph_data& g, const op_def& op, const int* in, int n_in) {
  const node *const n = g.nodes.data, &x = n[in[0]];
  const unsigned t = static_cast<unsigned>(op.traits);
  bool alike = n_in < 2 || (n[in[1]].type == x.type && (n[in[1]].shape == x.shape || n[in[1]].shape == 0));
  for (int k = 2; k < n_in && alike; ++k)
    alike = n[in[k]].type == x.type && (n[in[k]].shape == x.shape || n[in[k]].shape == 0);
  if (alike && (t & static_cast<unsigned>(trait::shape_preserving)) != 0)
    return {&g, g.append(op, x.shape, x.type, in, n_in)};
  if (alike && (t & static_cast<unsigned>(trait::update_of_equals)) != 0 && n[in[n_in - 1]].shape == x.shape)
    return {&g, g.append(op, 0, dtype::none, in, n_in)};
  return {&g, append_inferred(g, op, in, n_in, nullptr, 0)};
}

}  // namespace detail

// emit<ops::mul>(a, b); with attributes: emit<ops::reduce_sum>(attrs, a).
template <class Op, class... Refs>
constexpr ref emit(ref first, Refs... rest) {
  const int in[] = {first.id, rest.id...};
  return detail::emit_node(*first.graph, op_def_of<Op>, in, static_cast<int>(1 + sizeof...(rest)));
}
template <class Op, class... Refs>
constexpr ref emit(const typename Op::attrs& attributes, ref first, Refs... rest) {
  const int in[] = {first.id, rest.id...};
  const auto block = detail::words_of(attributes);
  return {first.graph, detail::append_inferred(*first.graph, op_def_of<Op>, in, static_cast<int>(1 + sizeof...(rest)),
                                               block.w, detail::attr_words<typename Op::attrs>)};
}
// A gradient that is known to have the shape and type of `like` needs no rule.
template <class Op, class... Refs>
constexpr ref emit_like(ref like, const typename Op::attrs& attributes, ref first, Refs... rest) {
  const int in[] = {first.id, rest.id...};
  const auto block = detail::words_of(attributes);
  return {first.graph,
          first.graph->append(op_def_of<Op>, like.graph->nodes.data[like.id].shape, like.type(), in,
                              static_cast<int>(1 + sizeof...(rest)), block.w, detail::attr_words<typename Op::attrs>)};
}
template <class Op, class... Refs>
constexpr ref emit_like(ref like, ref first, Refs... rest) {
  const int in[] = {first.id, rest.id...};
  const node& x = like.graph->nodes.data[like.id];
  return {first.graph, first.graph->append(op_def_of<Op>, x.shape, x.type, in, static_cast<int>(1 + sizeof...(rest)))};
}
// Ops whose result is declared by the caller: reshape, broadcast_to, cast.
template <class Op, class... Refs>
constexpr ref emit_as(const extents& shape, dtype type, ref first, Refs... rest) {
  const int in[] = {first.id, rest.id...};
  return {first.graph, detail::append_inferred(*first.graph, op_def_of<Op>, in, static_cast<int>(1 + sizeof...(rest)),
                                               nullptr, 0, shape, type)};
}

template <class Op, class... Refs>
constexpr ref emit_as(const extents& shape, dtype type, const typename Op::attrs& attributes, ref first, Refs... rest) {
  const int in[] = {first.id, rest.id...};
  const auto block = detail::words_of(attributes);
  return {first.graph, detail::append_inferred(*first.graph, op_def_of<Op>, in, static_cast<int>(1 + sizeof...(rest)),
                                               block.w, detail::attr_words<typename Op::attrs>, shape, type)};
}

// What an op's gradient rule sees and says: given dy, the gradient of the loss by the op's result, it adds to the
// gradient by each operand.
class gradient_step {
 public:
  constexpr gradient_step(graph_data& g, int id, const int* dy, int* accumulated, const bool* wanted,
                          ref (*accumulate)(ref, ref))
      : graph(g),
        id_(id),
        dy_(dy),
        accumulated_(accumulated),
        wanted_(wanted),
        accumulate_(accumulate) {}

  graph_data& graph;

  constexpr int operands() const { return graph.nodes[id_].n_inputs; }
  constexpr ref in(int i) const { return {&graph, graph.edges.data[graph.nodes.data[id_].inputs + i]}; }
  // The op's result; of several results the k-th.
  constexpr ref y(int k = 0) const { return {&graph, graph.nodes.data[id_].outputs > 1 ? id_ + 1 + k : id_}; }
  // Empty where the k-th result does not reach the loss.
  constexpr ref dy(int k = 0) const { return {&graph, dy_[k]}; }
  template <class A>
  constexpr A attrs() const {
    return ref{&graph, id_}.template attrs<A>();
  }
  // An op with this one's attributes, whose result has the shape and type of `like`: attributes may be shared.
  template <class Op, class... Refs>
  constexpr ref emit_like(ref like, Refs... operands) {
    static_assert(!std::is_empty_v<typename Op::attrs>);
    const ref made = flowgraph::emit_like<Op>(like, operands...);
    node* const n = graph.nodes.data;
    n[made.id].attrs = n[id_].attrs, n[made.id].n_attrs = n[id_].n_attrs;
    return made;
  }
  // Where the op is; 0: in no region.
  constexpr int region() const { return graph.nodes.data[id_].region; }
  // A scalar of an op without operands, in the op's own region.
  template <class Op>
  constexpr ref beside(dtype type) {
    const int here = graph.current_region;
    graph.current_region = region();
    const ref made{&graph, graph.append(op_def_of<Op>, 0, type, nullptr, 0)};
    graph.current_region = here;
    return made;
  }
  // Does anybody need the gradient by operand i?
  constexpr bool wants(int i) const { return wanted_[graph.edges.data[graph.nodes.data[id_].inputs + i]]; }
  FLOWGRAPH_CONSTEXPR void to(int i, ref dx) {
    const int x = graph.edges.data[graph.nodes.data[id_].inputs + i];
    if (wanted_[x]) accumulated_[x] = accumulated_[x] < 0 ? dx.id : accumulate_({&graph, accumulated_[x]}, dx).id;
  }

 private:
  int id_;
  const int* dy_;
  int* accumulated_;
  const bool* wanted_;
  ref (*accumulate_)(ref, ref);
};

// What an op's simplify rule sees: one node; it returns the id of an equal node, or keep.
class rewriter {
 public:
  static constexpr int keep = -1;

  constexpr rewriter(graph_data& g, int id) : graph(g), self{&g, id} {}

  graph_data& graph;
  ref self;

  constexpr ref in(int i) const { return {&graph, graph.edges.data[graph.nodes.data[self.id].inputs + i]}; }
};

// What an op's flops rule sees: extents as numbers.
class cost_query {
 public:
  constexpr cost_query(const extents* in, const extents& out, const std::int64_t* words)
      : in_(in),
        out_(out),
        words_(words) {}

  constexpr const extents& in(int i) const { return in_[i]; }
  constexpr const extents& out() const { return out_; }
  template <class A>
  constexpr A attrs() const {
    return detail::attrs_from_words<A>(words_);
  }

 private:
  const extents* in_;
  const extents& out_;
  const std::int64_t* words_;
};

}  // namespace flowgraph
