// Axes in another order.
#pragma once
#include <cstdint>

#include "reshape.hpp"

namespace flowgraph::ops {

// Result axis i is operand axis axis(i). Four bits for each axis.
struct permutation {
  std::int64_t axes;

  constexpr int axis(int i) const { return static_cast<int>((axes >> (4 * i)) & 15); }
  constexpr void set(int i, int source) {
    axes = (axes & ~(std::int64_t{15} << (4 * i))) | std::int64_t{source} << (4 * i);
  }
  // The order that undoes this one.
  constexpr permutation inverse(int rank) const {
    permutation p{};
    for (int i = 0; i < rank; ++i) p.set(axis(i), i);
    return p;
  }
  // First this order, then next.
  constexpr permutation then(const permutation& next, int rank) const {
    permutation p{};
    for (int i = 0; i < rank; ++i) p.set(i, axis(next.axis(i)));
    return p;
  }
};

// Exchanges the last two axes.
constexpr permutation swap_last_two(int rank) {
  permutation p{};
  for (int i = 0; i < rank; ++i) p.set(i, i < rank - 2 ? i : 2 * rank - 3 - i);
  return p;
}

// Do elements change places in memory?
FLOWGRAPH_CONSTEXPR bool reorders(const extents& shape, const permutation& p) {
  int last = -1;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape[p.axis(i)] == 1) continue;
    if (p.axis(i) < last) return true;
    last = p.axis(i);
  }
  return false;
}

struct transpose : op<transpose, "transpose"> {
  using attrs = permutation;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const extents& x = f.in(0);
    const permutation p = f.attrs<attrs>();
    extents r;
    int seen = 0;
    for (int i = 0; i < x.rank; ++i) {
      const int axis = p.axis(i);
      f.require(axis < x.rank && !((seen >> axis) & 1), problem::permutation);
      seen |= 1 << axis;
      r.push(axis < x.rank ? x[axis] : 1);
    }
    f.out(r, f.type(0));
  }
  static constexpr void gradient(gradient_step& g) {
    g.to(0, emit<transpose>(g.attrs<attrs>().inverse(g.in(0).rank()), g.dy()));
  }
  // Two in a row are one; one that moves no element but axes of extent 1 is a reshape.
  static FLOWGRAPH_CONSTEXPR int simplify(rewriter& r) {
    const bool twice = r.in(0).is(op_def_of<transpose>);
    const ref x = twice ? r.in(0).input(0) : r.in(0);
    permutation p = r.self.attrs<attrs>();
    if (twice) p = r.in(0).attrs<attrs>().then(p, x.rank());
    if (!reorders(x.shape(), p))
      return x.get().shape == r.self.get().shape ? x.id : emit_as<reshape>(r.self.shape(), r.self.type(), x).id;
    return twice ? emit<transpose>(p, x).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr ref transpose_last_two(ref x) { return emit<transpose>(swap_last_two(x.rank()), x); }

// x of transpose(x) where that exchanges the last two axes and no others; otherwise empty.
FLOWGRAPH_CONSTEXPR ref operand_of_last_two_swap(ref x) {
  if (x.is(op_def_of<transpose>) && x.attrs<permutation>().axes == swap_last_two(x.rank()).axes) return x.input(0);
  return {};
}

}  // namespace flowgraph::ops
