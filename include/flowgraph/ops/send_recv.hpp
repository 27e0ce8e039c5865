// How a value gets from one device to another: a pair of nodes with one channel. Partitioning puts them in; users
// never write them.
#pragma once
#include <cstdint>

#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// Both ends: which of the plan's channels.
struct channel_attrs {
  std::int64_t channel;
};

// Hands its operand over; without an operand, the news that it was reached. Never waits for the receiver.
struct send : op<send, "send"> {
  using attrs = channel_attrs;
  static constexpr void infer(inference& f) { f.require(f.operands() <= 1, problem::invalid_graph); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// What was sent; of the declared shape and type, or nothing. Waits for the sender.
struct recv : op<recv, "recv"> {
  using attrs = channel_attrs;
  static constexpr void infer(inference& f) {
    if (f.declared_type() != dtype::none) f.out(f.declared(), f.declared_type());
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
