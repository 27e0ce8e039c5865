// Joining tensors along an axis and taking one apart: each is the other's gradient.
#pragma once
#include <cstdint>

#include "sources.hpp"

namespace flowgraph::ops {

struct concat : op<concat, "concat"> {
  struct attrs {
    std::int64_t axis;
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const int axis = static_cast<int>(f.attrs<attrs>().axis);
    extents r = f.in(0);
    for (int k = 1; k < f.operands(); ++k) {
      const extents& x = f.in(k);
      f.require(f.type(k) == f.type(0), problem::dtypes_differ);
      f.require(x.rank == r.rank, problem::concat_extents);
      for (int i = 0; i < r.rank && i < x.rank; ++i) {
        if (i == axis)
          r[i] = f.symbols.add(r[i], x[i]);
        else
          f.require(r[i] == x[i], problem::concat_extents);
      }
    }
    f.out(r, f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr int simplify(rewriter& r) { return r.self.get().n_inputs == 1 ? r.in(0).id : rewriter::keep; }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// Several results. Part k has size[k] elements along the axis; where the parts have named extents there are as many
// operands behind the first, and part k has the shape of operand k+1, which is not read.
struct split : op<split, "split"> {
  struct attrs {
    std::int64_t axis;
    std::int64_t parts;
    std::int64_t size[inference::max_outputs];
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const attrs a = f.attrs<attrs>();
    const int axis = static_cast<int>(a.axis);
    extents part = f.in(0);
    extent total = 0;
    for (int k = 0; k < a.parts; ++k) {
      part[axis] = f.operands() > 1 ? f.in(k + 1)[axis] : a.size[k];
      total = f.symbols.add(total, part[axis]);
      f.out(part, f.type(0));
    }
    f.require(total == f.in(0)[axis], problem::split_extent);
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    const int n = static_cast<int>(a.parts);
    int parts[inference::max_outputs]{};
    for (int k = 0; k < n; ++k) parts[k] = g.dy(k) ? g.dy(k).id : full_like(g.y(k), 0).id;
    g.to(0, {&g.graph, detail::append_inferred(g.graph, op_def_of<concat>, parts, n, &a.axis, 1)});
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr void concat::gradient(gradient_step& g) {
  const std::int64_t axis = g.attrs<attrs>().axis;
  const int n = g.operands();
  if (n == 1) return g.to(0, g.dy());
  split::attrs a{axis, n, {}};
  int in[1 + inference::max_outputs] = {g.dy().id};
  bool numbers = true;
  for (int k = 0; k < n; ++k) {
    a.size[k] = g.in(k).shape()[static_cast<int>(axis)];
    numbers = numbers && a.size[k] >= 0;
    in[k + 1] = g.in(k).id;
  }
  if (!numbers)
    for (int k = 0; k < n; ++k) a.size[k] = 0;
  const auto words = detail::words_of(a);
  const int id = detail::append_inferred(g.graph, op_def_of<split>, in, numbers ? 1 : 1 + n, words.w,
                                         detail::attr_words<split::attrs>);
  for (int k = 0; k < n; ++k) g.to(k, {&g.graph, id + 1 + k});
}

}  // namespace flowgraph::ops
