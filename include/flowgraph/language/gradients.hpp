// fg::gradients: derivatives of a scalar by any tensors, typed as those tensors. The sweep itself is
// passes/gradient.hpp.
#pragma once
#include <tuple>

#include <flowgraph/passes/gradient.hpp>
#include <flowgraph/passes/uses.hpp>
#include "graph.hpp"

namespace flowgraph {

// auto dw = gradients(loss, w);   auto [dw, db] = gradients(loss, w, b);
// Each derivative has the type of what it is taken by. A tensor that the loss does not use is a mistake; the derivative
// is zero where no slope gets through (stop_gradient, a cast to integers), and where a derivative of a derivative has
// nothing left. The results are tensors like any others: gradients of gradients work.
template <any_tensor Loss, any_tensor... Xs>
  requires(sizeof...(Xs) > 0)
constexpr auto gradients(const Loss& loss, const Xs&... xs) {
  if constexpr (rank_v<Loss> != 0) detail::mistake<problem::loss_not_scalar, tensor_t<Loss>>();
  if constexpr (!floating_tensor<Loss>) detail::mistake<problem::loss_not_floating, tensor_t<Loss>>();
  constexpr int n = static_cast<int>(sizeof...(Xs));
  const int ids[] = {xs.id...};
  int derivatives[n]{};
  if constexpr (rank_v<Loss> == 0 && floating_tensor<Loss>) {
    graph_data& g = *loss.graph;
    if (((xs.graph != &g) || ...)) g.fail(problem::different_graphs, "gradients");
    g.where = g.origins[loss.id].where;
    passes::gradient(g, loss.id, ids, n, derivatives);
    for (int k = 0; k < n; ++k) {
      g.derivatives.push(derivatives[k]);
      if (g.nodes[derivatives[k]].op->id != ops::constant::id) continue;
      if (passes::uses(g, g.capture(ids[k], g.nodes[loss.id].region), loss.id)) continue;
      g.where = g.origins[ids[k]].where;
      g.fail(problem::gradient_unused, g.nodes[ids[k]].op->name);
    }
  }
  if constexpr (n == 1) {
    return (tensor_t<Xs>{loss.graph, derivatives[0]}, ...);
  } else {
    int next = 0;
    return std::tuple<tensor_t<Xs>...>{tensor_t<Xs>{loss.graph, derivatives[next++]}...};
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_IF(gradients, flowgraph::detail::not_loss_and_tensors<X...>,
                    "gradients takes a loss and the tensors that it is derived by, as in gradients(loss, w)")

}  // namespace flowgraph
