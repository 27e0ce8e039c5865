// Dropout as one op: its mask is drawn wherever it is needed, and never stored. The op is linear in its operand, so its
// gradient is the op itself, on the gradient and with the same numbers.
#pragma once
#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// The number of this turn of the loops around, for what must draw the same numbers in another one.
struct turn : op<turn, "turn"> {
  static constexpr trait traits = trait::random;
  static constexpr void infer(inference& f) { f.out({}, dtype::int64); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// (x), or (x, turn): y = x / (1 - rate) with probability 1 - rate, else 0.
struct dropout : op<dropout, "dropout"> {
  struct attrs {
    double rate;
    std::int64_t stream;  // names the random numbers: the gradient's node has the one of the node it belongs to
  };
  static constexpr trait traits = trait::random | trait::in_place;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    f.out(f.in(0), f.type(0));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (g.operands() > 1) return g.to(0, emit<dropout>(g.attrs<attrs>(), g.dy(), g.in(1)));
    if (g.region() == 0) return g.to(0, emit<dropout>(g.attrs<attrs>(), g.dy()));
    g.to(0, emit<dropout>(g.attrs<attrs>(), g.dy(), g.beside<turn>(dtype::int64)));
  }
};

}  // namespace flowgraph::ops
