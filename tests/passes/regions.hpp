// For tests of passes: control flow, and ops with several results, with an effect, which have no kernel.
#pragma once
#include <flowgraph/ops/binary.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/flow.hpp>
#include <flowgraph/ops/matmul.hpp>
#include <flowgraph/ops/state.hpp>

namespace test_ops {

namespace fg = flowgraph;

// Two results of the operand's shape.
struct halves : fg::op<halves, "halves"> {
  static constexpr void infer(fg::inference& f) {
    f.out(f.in(0), f.type(0));
    f.out(f.in(0), f.type(0));
  }
};

// Passes its operand on, and somebody watches.
struct note : fg::op<note, "note"> {
  static constexpr fg::trait traits = fg::trait::stateful;
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};

// Of the first operand's shape, by kernels that go on with their result.
struct refine : fg::op<refine, "refine"> {
  static constexpr fg::trait traits = fg::trait::finishes;
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};

constexpr fg::ref placeholder(fg::graph_data& g, const fg::extents& e, fg::dtype type = fg::dtype::float32) {
  return {&g, g.append(fg::op_def_of<fg::ops::placeholder>, g.intern_shape(e), type, nullptr, 0)};
}
constexpr fg::ref variable(fg::graph_data& g, const fg::extents& e) {
  const auto words = fg::detail::words_of(fg::ops::variable::attrs{0, 0, 0, 1});
  return {&g,
          g.append(fg::op_def_of<fg::ops::variable>, g.intern_shape(e), fg::dtype::float32, nullptr, 0, words.w, 4)};
}
constexpr fg::ref constant(fg::graph_data& g, const fg::extents& e, double value) {
  const auto words = fg::detail::words_of(fg::ops::constant::attrs{fg::ops::literal_word(value)});
  return {&g,
          g.append(fg::op_def_of<fg::ops::constant>, g.intern_shape(e), fg::dtype::float32, nullptr, 0, words.w, 1)};
}
constexpr fg::extents shape(fg::extent a) {
  fg::extents e;
  e.push(a);
  return e;
}
constexpr fg::extents shape(fg::extent a, fg::extent b) {
  fg::extents e;
  e.push(a);
  e.push(b);
  return e;
}

// then() and otherwise() give a ref of one shape; both may use refs from outside.
template <class Then, class Otherwise>
constexpr fg::ref choice(fg::ref condition, const Then& then, const Otherwise& otherwise) {
  fg::graph_data& g = *condition.graph;
  const int first = g.reserve_regions(2);
  g.enter_region(first);
  const int a = then().id;
  g.close_region(&a, 1);
  g.enter_region(first + 1);
  const int b = otherwise().id;
  g.close_region(&b, 1);
  const std::int64_t words[] = {-1, 0, 0};
  return {&g, g.append_owner(fg::op_def_of<fg::ops::cond>, &a, 1, first, 2, &condition.id, 1, words, 3)};
}

inline constexpr std::int64_t most_turns = 3;

// condition(state) and next(state), over one state.
template <class Condition, class Next>
constexpr fg::ref loop(fg::ref initial, const Condition& condition, const Next& next) {
  fg::graph_data& g = *initial.graph;
  const int shape = initial.get().shape;
  const fg::dtype type = initial.type();
  const int first = g.reserve_regions(2);
  g.enter_region(first);
  const int a = condition(fg::ref{&g, g.append_argument(0, shape, type)}).id;
  g.close_region(&a, 1);
  g.enter_region(first + 1);
  const int b = next(fg::ref{&g, g.append_argument(0, shape, type)}).id;
  g.close_region(&b, 1);
  const std::int64_t words[] = {most_turns, 0, 0};
  return {&g, g.append_owner(fg::op_def_of<fg::ops::while_loop>, &initial.id, 1, first, 2, &initial.id, 1, words, 3)};
}

}  // namespace test_ops
