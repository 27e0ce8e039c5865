// Values that one loop leaves behind and another one takes up again, last one first: how derivatives of loops find what
// was computed on the way. A stack is known by a number, a float64 scalar, and is used once: what a push or a pop gives
// is the stack from then on. So derivatives flow through a stack as through any value: the derivative of a stack is a
// stack, of pushes a pop, of pops a push. The number 0 is a stack of zeros without end, and pushing on it makes
// another.
#pragma once
#include "sources.hpp"

namespace flowgraph::ops {

FLOWGRAPH_CONSTEXPR ref empty_stack(graph_data& g) {
  const auto block = detail::words_of(constant::attrs{0});
  return {&g, g.append(op_def_of<constant>, 0, dtype::float64, nullptr, 0, block.w, 1)};
}

// (stack, x) -> the stack with x on it
struct stack_push : op<stack_push, "stack_push"> {
  static constexpr trait traits = trait::stateful | trait::in_place;
  static constexpr void infer(inference& f) { f.out({}, dtype::float64); }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (stack) -> x, of the declared shape and type, and the stack without it
struct stack_pop : op<stack_pop, "stack_pop"> {
  static constexpr trait traits = trait::stateful;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.out(f.declared(), f.declared_type());
    f.out({}, dtype::float64);
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref rest = g.dy(1) ? g.dy(1) : empty_stack(g.graph);
    g.to(0, emit<stack_push>(rest, g.dy(0) ? g.dy(0) : full_like(g.y(0), 0)));
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr void stack_push::gradient(gradient_step& g) {
  const ref popped = emit_as<stack_pop>(g.in(1).shape(), g.in(1).type(), g.dy());
  g.to(0, {&g.graph, popped.id + 2});
  g.to(1, {&g.graph, popped.id + 1});
}

}  // namespace flowgraph::ops
