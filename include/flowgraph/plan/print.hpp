// The printed form of a plan: its memory, its instructions in serial order with what they read, write and overwrite,
// the programs of fused ones, and who waits for whom.
#pragma once
#include <string>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/graph/node.hpp>
#include "plan.hpp"

namespace flowgraph {

inline namespace FLOWGRAPH_HALF {

// model: whose nodes have names; empty: none.
FLOWGRAPH_OTHER_HALF std::string to_text(const plan_view& p, const graph_view& model = {});

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "print_code.hpp"
#endif
