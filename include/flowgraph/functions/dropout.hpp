// Dropout: for the graph that trains; a graph that only infers leaves it out.
#pragma once
#include <flowgraph/language/elementwise.hpp>
#include <flowgraph/ops/dropout.hpp>

namespace flowgraph {

// Each element is 0 with probability rate, and otherwise divided by 1 - rate, so that its expectation stays. The
// gradient draws the same numbers again, and so drops the same elements: no mask waits for it.
template <any_tensor X>
constexpr auto dropout(const X& x, double rate, caller where = {}) {
  x.graph->where = where;
  if (!(rate >= 0 && rate < 1)) x.graph->fail(problem::parameter_range, "dropout");
  return detail::call_with<ops::dropout>(where, {rate, x.graph->nodes.count}, detail::as_tensor(x));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(dropout, 3, not_tensor_and_number_first,
                 "dropout takes a tensor and the share that becomes 0, as in dropout(x, 0.5)")

}  // namespace flowgraph
