// Probabilities from logits, and the loss on them. The sparse cross-entropy is an op of its own: made of
// log_softmax and a gather it would keep [batch, classes] log-probabilities of which one in each row is used, and
// its gradient, softmax - onehot, would be put together from a scatter.
#pragma once
#include <cstdint>

#include "unary.hpp"

namespace flowgraph::ops {

struct axis_attrs {
  std::int64_t axis;  // from 0
};

constexpr ref sum_along(ref x, std::int64_t axis) {
  return emit<reduce_sum>({.axes = std::int64_t{1} << axis, .keep = 1}, x);
}

// An axis outside the operand is refused where it becomes a number.
FLOWGRAPH_CONSTEXPR void infer_along_axis(inference& f) {
  f.require(is_floating(f.type(0)), problem::needs_floating);
  f.out(f.in(0), f.type(0));
}

// y = exp(x) / sum(exp(x)) along an axis.
struct softmax : op<softmax, "softmax"> {
  using attrs = axis_attrs;
  static constexpr trait traits = trait::in_place;
  static constexpr void infer(inference& f) { infer_along_axis(f); }
  // dx = y (dy - sum(dy y))
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref y = g.y(), dy = g.dy();
    g.to(0, y * (dy - sum_along(dy * y, g.attrs<attrs>().axis)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return 4 * element_count(q.out()); }
};

// y = x - log(sum(exp(x))) along an axis.
struct log_softmax : op<log_softmax, "log_softmax"> {
  using attrs = axis_attrs;
  static constexpr trait traits = trait::in_place;
  static constexpr void infer(inference& f) { infer_along_axis(f); }
  // dx = dy - softmax(x) sum(dy)
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref dy = g.dy();
    g.to(0, dy - emit<exp>(g.y()) * sum_along(dy, g.attrs<attrs>().axis));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return 4 * element_count(q.out()); }
};

FLOWGRAPH_CONSTEXPR void require_labels(inference& f) {
  const extents &logits = f.in(0), &labels = f.in(1);
  f.require(is_floating(f.type(0)), problem::needs_floating);
  f.require(f.type(1) == dtype::int32 || f.type(1) == dtype::int64, problem::needs_integer);
  f.require(logits.rank >= 1, problem::operand_rank);
  f.require(logits.rank == labels.rank + 1, problem::labels_shape);
  for (int i = 0; i < labels.rank && i < logits.rank; ++i) f.require(logits[i] == labels[i], problem::labels_shape);
}

// softmax(logits) - onehot(labels)
struct softmax_minus_one_hot : op<softmax_minus_one_hot, "softmax_minus_one_hot"> {
  static constexpr trait traits = trait::in_place;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_labels(f);
    f.out(f.in(0), f.type(0));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref x = g.in(0), dy = g.dy();
    const std::int64_t axis = x.rank() - 1;
    const ref p = emit<softmax>({axis}, x);
    g.to(0, p * (dy - sum_along(dy * p, axis)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return 4 * element_count(q.out()); }
};

// loss[...] = -log_softmax(logits)[..., labels[...]]
struct sparse_softmax_cross_entropy : op<sparse_softmax_cross_entropy, "sparse_softmax_cross_entropy"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_labels(f);
    f.out(f.in(1), f.type(0));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    if (!g.wants(0)) return;
    const ref logits = g.in(0);
    extents column = logits.shape();
    column[column.rank - 1] = 1;
    const ref dy = emit_as<reshape>(column, g.dy().type(), g.dy());  // [..., 1]
    g.to(0, dy * emit<softmax_minus_one_hot>(logits, g.in(1)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return 3 * element_count(q.in(0)); }
};

}  // namespace flowgraph::ops
