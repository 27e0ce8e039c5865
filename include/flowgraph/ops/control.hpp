// Control flow. In a graph it is two ops that own regions: cond runs one of them, while_loop runs its own again and
// again. In a plan it is the five primitives of dataflow: switch, merge, enter, exit, next_iteration, which stand
// around the instructions of the regions and say where a step goes on.
#pragma once
#include <cstdint>

#include <flowgraph/graph/inference.hpp>

namespace flowgraph::ops {

// Of both ops.
struct control_attrs {
  std::int64_t most_turns;  // of a loop; negative: as many as it takes
  std::int64_t replaces;    // 1: what its last control edge leads to, wherever both are needed
  std::int64_t again;       // 1: for derivatives it runs once more instead of keeping what it computed
};

// (which, captured...): runs one of its regions and gives that region's results. Which: a boolean, true for the first
// region of two; or a number, where one that no region has means the last.
struct cond : op<cond, "cond"> {
  using attrs = control_attrs;
  static constexpr void infer(inference&) {}
};

// (initial..., captured...): as long as the first region gives true, the second one makes the next values from those
// at hand.
struct while_loop : op<while_loop, "while_loop"> {
  using attrs = control_attrs;
  static constexpr trait traits = trait::iterates;
  static constexpr void infer(inference&) {}
};

// Begins a loop: its variables get their initial values.
struct enter : op<enter, "enter"> {
  static constexpr void infer(inference&) {}
};

// Goes on with one region of several, or with a loop's body or behind the loop.
struct switch_ : op<switch_, "switch"> {
  static constexpr void infer(inference&) {}
};

// Ends a loop's body: its variables get their next values, and the condition is asked again.
struct next_iteration : op<next_iteration, "next_iteration"> {
  static constexpr void infer(inference&) {}
};

// Where a loop goes on that is done.
struct exit : op<exit, "exit"> {
  static constexpr void infer(inference&) {}
};

// Ends a branch, whose values become those of the whole; and stands where all branches go on.
struct merge : op<merge, "merge"> {
  static constexpr void infer(inference&) {}
};

}  // namespace flowgraph::ops
