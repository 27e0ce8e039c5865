// Reverse-mode differentiation of a graph on values: one backward sweep, each node visited once, however much is
// shared. Ops say their own derivative (ops/); this pass knows none of them by name.
#pragma once
#include <flowgraph/ops/embedding.hpp>

namespace flowgraph::passes {

// What is added up where a value is used more than once. Sparse gradients stay sparse among themselves.
constexpr ref accumulate(ref a, ref b) {
  if (a.is(op_def_of<ops::indexed_slices>) && b.is(op_def_of<ops::indexed_slices>)) return ops::join_slices(a, b);
  return emit<ops::add>(a, b);
}

// Appends what computes d loss / d xs[k] and writes its node to result[k]. Where the loss does not depend on
// xs[k], that is a constant zero. An op without a gradient on the way is a fault that names it.
constexpr void gradient(graph_data& g, int loss, const int* xs, int n, int* result) {
  const int size = loss + 1;
  int lowest = size;
  // wanted[i]: node i lies between some x and the loss, and carries a derivative.
  detail::vec<bool> wanted(size);
  for (int k = 0; k < n; ++k)
    if (xs[k] < size) {
      wanted[xs[k]] = true;
      if (xs[k] < lowest) lowest = xs[k];
    }
  for (int i = lowest; i < size; ++i) {
    const node& x = g.nodes.data[i];
    if (wanted.data[i] || x.n_inputs == 0 || x.region != 0 || !(is_floating(x.type) || x.outputs > 1)) continue;
    const int* in = g.edges.data + x.inputs;
    for (int k = 0; k < x.n_inputs && !wanted.data[i]; ++k) wanted.data[i] = wanted.data[in[k]];
  }

  detail::vec<int> sums(size, -1);
  const source where = g.where;
  const int scope = g.scope, device = g.device;
  if (wanted[loss]) sums[loss] = ops::full_like({&g, loss}, 1).id;
  for (int i = loss; i >= lowest; --i) {
    if (!wanted.data[i]) continue;
    const node x = g.nodes.data[i];
    if (x.n_inputs == 0 || x.op->id == ops::output::id) continue;
    const int* dy = sums.data + i;
    if (x.outputs > 1) {
      ++dy;
      bool any = false;
      for (int k = 0; k < x.outputs; ++k) any = any || dy[k] >= 0;
      if (!any) continue;
    } else if (*dy < 0) {
      continue;
    }
    bool to_inputs = false;
    const int* in = g.edges.data + x.inputs;
    for (int k = 0; k < x.n_inputs && !to_inputs; ++k) to_inputs = wanted.data[in[k]];
    if (!to_inputs || x.op->is(trait::zero_gradient)) continue;
    if (!x.op->is(trait::has_gradient)) {
      g.where = g.origins[i].where;
      g.fail(problem::no_gradient, x.op->name);
      continue;
    }
    // A derivative belongs where its op does: same line, scope and device.
    g.where = g.origins.data[i].where;
    g.scope = g.origins.data[i].scope;
    g.device = x.device;
    gradient_step step(g, i, dy, sums.data, wanted.data, &accumulate);
    x.op->gradient(step);
  }
  g.where = where;
  g.scope = scope;
  g.device = device;
  for (int k = 0; k < n; ++k)
    result[k] = xs[k] < size && sums[xs[k]] >= 0 ? sums[xs[k]] : ops::full_like({&g, xs[k]}, 0).id;
}

}  // namespace flowgraph::passes
