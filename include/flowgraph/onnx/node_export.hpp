// One node on its way into an ONNX graph: what a rule reads of it, and what it says.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph_writer.hpp"

namespace flowgraph::onnx {

class node_export {
 public:
  node_export(const graph_view& g, int id, graph_writer& w, std::vector<value>& values)
      : writer(w),
        graph_(g),
        id_(id),
        values_(values) {}

  graph_writer& writer;

  int operands() const { return graph_.nodes[id_].n_inputs; }
  const value& operand(int k) const { return values_[static_cast<std::size_t>(graph_.inputs(id_)[k])]; }
  const extents& in(int k) const { return operand(k).shape; }
  dtype type(int k) const { return operand(k).type; }
  template <class A>
  A attrs() const {
    return flowgraph::detail::attrs_from_words<A>(graph_.attrs(id_).data);
  }
  detail::slice<std::int64_t> words() const { return graph_.attrs(id_); }
  extents out() const { return graph_.shape_of(id_); }
  dtype out_type() const { return graph_.nodes[id_].type; }

  // An operand's tensor, in its own order.
  std::string name(int k) { return writer.plain(operand(k)); }
  // All operands, in the order of one of them that is held in another: for what is done element by element.
  names elementwise() {
    for (int k = 0; k < operands() && order_.empty(); ++k)
      if (in(k).rank == out().rank) order_ = operand(k).order;
    names all;
    for (int k = 0; k < operands(); ++k) all.push_back(writer.held_as(operand(k), order_, out().rank));
    return all;
  }
  // The only operand, as it is held; the result is held the same way.
  std::string as_held() {
    order_ = operand(0).order;
    return operand(0).name;
  }
  // Where an axis of what as_held gave is.
  int held_axis(int axis) const { return order_.empty() ? axis : order_[static_cast<std::size_t>(axis)]; }
  void hold(axis_order order) { order_ = std::move(order); }

  std::string emit(std::string op, names inputs, attributes a = {}) {
    return writer.emit(std::move(op), std::move(inputs), std::move(a));
  }
  std::string cast(const std::string& x, dtype to) { return emit("Cast", {x}, {attribute("to", code_of(to))}); }
  std::string number(double v) { return writer.scalar(type(0), v); }

  // The node's value: a tensor of out()'s shape, held in the order that was chosen above.
  void give(const std::string& tensor) { values_[static_cast<std::size_t>(id_)] = {tensor, out(), out_type(), order_}; }
  // The k-th of several.
  void give(int k, const std::string& tensor) {
    const int output = id_ + 1 + k;
    values_[static_cast<std::size_t>(output)] = {tensor, graph_.shape_of(output), graph_.nodes[output].type};
  }
  // The operand itself.
  void pass_on() { values_[static_cast<std::size_t>(id_)] = operand(0); }

 private:
  const graph_view& graph_;
  int id_;
  std::vector<value>& values_;
  axis_order order_;
};

using export_function = void (*)(node_export&);
struct export_rule {
  std::uint64_t op;
  export_function write;
};

}  // namespace flowgraph::onnx
