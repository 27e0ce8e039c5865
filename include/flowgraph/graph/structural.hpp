// The two ops that the graph's own shape needs: one result of a node with several, and one value that enters a
// region from outside.
#pragma once
#include <cstdint>

#include "inference.hpp"

namespace flowgraph::ops {

// The k-th result of the node before it.
struct output : op<output, "output"> {
  struct attrs {
    std::int64_t index;
  };
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

// Inside a region: the owner's input of this index.
struct argument : op<argument, "argument"> {
  struct attrs {
    std::int64_t index;
  };
  static constexpr trait traits = trait::source;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

}  // namespace flowgraph::ops
