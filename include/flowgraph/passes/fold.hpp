// Ops over constants become constants. A constant is one number for all elements, so that one call of the op's own
// fold rule serves any shape.
#pragma once
#include "prune.hpp"

namespace flowgraph::passes {

// The number as an element of this type holds it. False: no element does, or a program would rather see it happen.
constexpr bool representable(double& value, dtype type) {
  if (value != value) return false;
  switch (type) {
    case dtype::boolean:
      return value == 0 || value == 1;
    case dtype::float64:
      return value - value == 0;
    case dtype::float32:
      if (value > 3.4028234663852886e38 || value < -3.4028234663852886e38) return false;
      value = static_cast<double>(static_cast<float>(value));
      return true;
    case dtype::float16:
      if (value > 65504 || value < -65504) return false;
      value = static_cast<double>(static_cast<float>(half(static_cast<float>(value))));
      return true;
    case dtype::bfloat16:
      if (value > 3.3895313892515355e38 || value < -3.3895313892515355e38) return false;
      value = static_cast<double>(static_cast<float>(bfloat16(static_cast<float>(value))));
      return true;
    default:
      break;
  }
  // Integers: exact, and within the type.
  const int n = 8 * size_of(type) - (type == dtype::uint8 ? 0 : 1);
  const double limit = n > 53 ? 9007199254740992.0 : static_cast<double>(std::int64_t{1} << n);
  if (value >= limit || value < (type == dtype::uint8 ? 0 : -limit)) return false;
  return value == static_cast<double>(static_cast<std::int64_t>(value));
}

// Returns how many nodes became constants. What they read may be dead now.
constexpr int fold(draft& d) {
  constexpr int most = 4;  // operands
  node* nodes = d.graph.nodes.data;
  const int* edges = d.graph.edges.data;
  int changed = 0;
  for (int i = 0, n = d.graph.nodes.count; i < n; ++i) {
    if (!(static_cast<unsigned>(nodes[i].op->traits) & (bit::has_fold | bit::view)) || nodes[i].n_inputs == 0 ||
        nodes[edges[nodes[i].inputs]].op->id != ops::constant::id)
      continue;
    node& x = nodes[i];
    if (x.n_inputs > most || x.n_control != 0) continue;
    const op_def& op = *x.op;
    const bool view = op.is(trait::view);
    double in[most]{};
    bool known = true;
    for (int k = 0; k < x.n_inputs && known; ++k) {
      const node& y = nodes[edges[x.inputs + k]];
      known = y.op->id == ops::constant::id;
      if (known) in[k] = ops::number_of(y.type, d.graph.words[y.attrs]);
      // Rules compute in double, which holds integers up to 2^53, and compare without a thought of NaN.
      if (known && !view && in[k] != in[k]) known = false;
      if (known && !view) known = is_floating(y.type) || (in[k] < 9007199254740992.0 && in[k] > -9007199254740992.0);
    }
    if (!known) continue;
    std::int64_t word = d.graph.words[nodes[edges[x.inputs]].attrs];
    if (!view) {
      double value = op.fold(in);
      if (!representable(value, x.type)) continue;
      word = ops::number_word(x.type, value);
    }
    x.op = &op_def_of<ops::constant>;
    x.n_inputs = 0;
    x.attrs = d.graph.words.push(word);
    x.n_attrs = 1;
    ++changed;
  }
  return changed;
}

}  // namespace flowgraph::passes
