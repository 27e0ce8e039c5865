// Dropout as one op: its mask is drawn wherever it is needed, and never stored. The op is linear in its operand, so its
// gradient is the op itself, on the gradient and with the same numbers.
#pragma once
#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// y = x / (1 - rate) with probability 1 - rate, else 0.
struct dropout : op<dropout, "dropout"> {
  struct attrs {
    double rate;
    std::int64_t stream;  // names the random numbers: the gradient's node has the one of the node it belongs to
  };
  static constexpr trait traits = trait::random | trait::in_place;
  static constexpr void infer(inference& f) {
    f.require(is_floating(f.type(0)), problem::needs_floating);
    f.out(f.in(0), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<dropout>(g.attrs<attrs>(), g.dy())); }
};

}  // namespace flowgraph::ops
