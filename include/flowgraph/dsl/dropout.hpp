// Dropout: for the graph that trains; a graph that only infers leaves it out.
#pragma once
#include "elementwise.hpp"
#include "random.hpp"

namespace flowgraph {

// Each element is 0 with probability rate, and otherwise divided by 1 - rate, so that its expectation stays. The
// gradient reads the same mask node, and so drops the same elements.
template <any_tensor X>
constexpr auto dropout(const X& x, double rate, caller where = {}) {
  using mask = typename detail::shaped<tensor, bool, tensor_t<X>>::type;
  x.graph->where = where;
  if (!(rate >= 0 && rate < 1)) x.graph->fail(problem::parameter_range, "dropout");
  const auto kept = detail::random_node<ops::bernoulli, mask>(where, *x.graph, true, ops::bernoulli::attrs{1 - rate});
  return select(kept, mul(x, 1 / (1 - rate), where), 0, where);
}

}  // namespace flowgraph
