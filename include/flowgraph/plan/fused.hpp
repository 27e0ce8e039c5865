// The op of an instruction that runs a program of element-wise steps: a name for the executor to look a kernel up by.
#pragma once
#include <flowgraph/graph/inference.hpp>

namespace flowgraph::ops {

// Exists in plans only, never in a graph.
struct fused : op<fused, "fused"> {
  static constexpr trait traits = trait::elementwise | trait::in_place;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

}  // namespace flowgraph::ops
