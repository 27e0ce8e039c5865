// Nodes that compute nothing: they order, group, pass on, cut, show or check.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// Done when all that it waits for is: its operands are control edges, as many as there are.
struct group : op<group, "group"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference&) {}
};

FLOWGRAPH_CONSTEXPR int append_group(graph_data& g, const int* nodes, int n) {
  for (int i = 0; i < n; ++i) g.push_control(nodes[i]);
  const int id = g.append(op_def_of<group>, 0, dtype::none, nullptr, 0);
  g.pop_controls(n);
  return id;
}

// The operand of something that passes it on, unless it says when it is read: after its controls, or before a
// variable changes.
FLOWGRAPH_CONSTEXPR int passed_on(rewriter& r) {
  const bool timed = r.self.get().n_control > 0 || r.in(0).get().op->is(trait::stateful);
  return timed ? rewriter::keep : r.in(0).id;
}

struct identity : op<identity, "identity"> {
  static constexpr trait traits = trait::view;
  static constexpr void infer(inference& f) { f.out(f.in(0), f.type(0)); }
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy()); }
  static constexpr int simplify(rewriter& r) { return passed_on(r); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

struct stop_gradient : op<stop_gradient, "stop_gradient"> {
  static constexpr trait traits = trait::view | trait::zero_gradient;
  static constexpr void infer(inference& f) { f.out(f.in(0), f.type(0)); }
  static constexpr int simplify(rewriter& r) { return passed_on(r); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// A text as attributes: its length, then eight characters to a word.
FLOWGRAPH_CONSTEXPR detail::vec<std::int64_t> text_words(std::string_view text) {
  const int n = static_cast<int>(text.size());
  detail::vec<std::int64_t> words(1 + (n + 7) / 8);
  words[0] = n;
  for (int i = 0; i < n; ++i) {
    const auto c = static_cast<unsigned char>(text[static_cast<unsigned>(i)]);
    words[1 + i / 8] = static_cast<std::int64_t>(static_cast<std::uint64_t>(words[1 + i / 8]) |
                                                 (static_cast<std::uint64_t>(c) << (8 * (i % 8))));
  }
  return words;
}
constexpr char text_char(const std::int64_t* words, int i) {
  return static_cast<char>((static_cast<std::uint64_t>(words[1 + i / 8]) >> (8 * (i % 8))) & 0xFF);
}

// Passes its operand on and shows it, behind the text in its attributes, on the standard error stream.
struct print : op<print, "print"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference& f) { f.out(f.in(0), f.type(0)); }
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy()); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// Passes its operand on, or stops the step with the text in its attributes where an element is not finite.
struct check_numerics : op<check_numerics, "check_numerics"> {
  static constexpr trait traits = trait::stateful;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    f.out(f.in(0), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, g.dy()); }
};

// Stops the step with the text in its attributes unless every element is true.
struct check : op<check, "check"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference& f) { f.require(f.type(0) == dtype::boolean, problem::needs_boolean); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
