// How many elements lie along some axes. Known only when a step binds the extents, so it is a value of the graph.
#pragma once
#include <cstdint>

#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// A scalar of the declared type. Bit i of axes: axis i counts. Reads the operand's extents, never its elements.
struct size : op<size, "size"> {
  struct attrs {
    std::int64_t axes;
  };
  static constexpr trait traits = trait::zero_gradient | trait::reads_extents;
  static constexpr void infer(inference& f) { f.out({}, f.declared_type()); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

}  // namespace flowgraph::ops
