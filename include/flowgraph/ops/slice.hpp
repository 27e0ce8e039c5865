// Cutting a box out of a tensor, and its opposite, setting a tensor into a larger one. A cut whose bounds depend on
// a named extent is checked when that is bound.
#pragma once
#include <cstdint>

#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

struct box_attrs {
  std::int64_t begin[max_rank];
};

// A box of this shape must lie within the whole.
FLOWGRAPH_CONSTEXPR void require_box(inference& f, const extents& whole, const extents& box, const std::int64_t* begin,
                                     problem otherwise) {
  f.require(whole.rank == box.rank, otherwise);
  for (int i = 0; i < box.rank && i < whole.rank; ++i) {
    f.require(begin[i] >= 0, otherwise);
    f.require_room(whole[i], box[i], begin[i], otherwise);
  }
}

// y[i, j, ...] = x[begin0 + i, begin1 + j, ...], of the declared shape.
struct slice : op<slice, "slice"> {
  using attrs = box_attrs;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_box(f, f.in(0), f.declared(), f.attrs<attrs>().begin, problem::slice_bounds);
    f.out(f.declared(), f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  // A slice that begins at 0 and has the operand's shape is the operand.
  static constexpr int simplify(rewriter& r) {
    return r.in(0).get().shape == r.self.get().shape ? r.in(0).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// x at begin in a tensor of the declared shape, value everywhere else.
struct pad : op<pad, "pad"> {
  struct attrs {
    std::int64_t begin[max_rank];
    std::int64_t value;  // a word, as a constant's
  };
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_box(f, f.declared(), f.in(0), f.attrs<attrs>().begin, problem::pad_rank);
    f.out(f.declared(), f.type(0));
  }
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const attrs a = g.attrs<attrs>();
    box_attrs box{};
    for (int i = 0; i < max_rank; ++i) box.begin[i] = a.begin[i];
    g.to(0, emit_as<slice>(g.in(0).shape(), g.in(0).type(), box, g.dy()));
  }
  static constexpr int simplify(rewriter& r) {
    return r.in(0).get().shape == r.self.get().shape ? r.in(0).id : rewriter::keep;
  }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr void slice::gradient(gradient_step& g) {
  const box_attrs box = g.attrs<attrs>();
  pad::attrs a{};
  for (int i = 0; i < max_rank; ++i) a.begin[i] = box.begin[i];
  g.to(0, emit_as<pad>(g.in(0).shape(), g.in(0).type(), a, g.dy()));
}

// The edge of an axis: as a begin, where a walk by the stride starts; as an end, just behind where it leaves.
inline constexpr std::int64_t axis_edge = INT64_MAX;

struct stride_attrs {
  std::int64_t begin[max_rank];
  std::int64_t end[max_rank];
  std::int64_t stride[max_rank];
};

struct walk {
  std::int64_t first;
  std::int64_t count;
};

// Python's x[begin:end:stride] on an axis of n elements: negative positions count from the back, positions beyond
// the axis are moved to its edge.
FLOWGRAPH_CONSTEXPR walk resolve_walk(std::int64_t n, std::int64_t begin, std::int64_t end, std::int64_t stride) {
  const std::int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? n : n - 1;
  auto position = [&](std::int64_t p, std::int64_t edge) {
    if (p == axis_edge) return edge;
    if (p < 0) p += n;
    return p < low ? low : p > high ? high : p;
  };
  const std::int64_t first = position(begin, stride > 0 ? low : high), last = position(end, stride > 0 ? high : low);
  const std::int64_t step = stride > 0 ? stride : -stride;
  const std::int64_t distance = stride > 0 ? last - first : first - last;
  return {first, distance <= 0 ? 0 : (distance + step - 1) / step};
}

// The number of elements on an axis of a named extent. Both positions must lie within it, which is checked when it
// is bound: a position is n + offset or offset alone, and a walk between them takes ceil(difference / |stride|).
FLOWGRAPH_CONSTEXPR extent named_walk_count(inference& f, extent n, std::int64_t begin, std::int64_t end,
                                            std::int64_t stride) {
  struct place {
    bool from_back;
    std::int64_t offset;
  };
  const bool forward = stride > 0;
  place a{begin < 0, begin}, b{end < 0, end};
  if (begin == axis_edge) a = forward ? place{false, 0} : place{true, -1};
  if (end == axis_edge) b = forward ? place{true, 0} : place{false, -1};
  if (!forward) {
    const place swapped = a;
    a = b;
    b = swapped;
  }
  // Forward a position is a cut, from 0 to n; backward it is an element, or -1 before the first.
  for (const place& p : {a, b}) {
    const std::int64_t least = forward ? p.offset : p.offset + 1;
    f.require_room(n, 0, least < 0 ? -least : least, problem::slice_bounds);
  }
  const std::int64_t step = forward ? stride : -stride;
  const std::int64_t offset = b.offset - a.offset;
  f.require(b.from_back || !a.from_back, problem::slice_bounds);
  if (b.from_back == a.from_back) {
    f.require(offset >= 0, problem::slice_bounds);
    return offset < 0 ? 0 : (offset + step - 1) / step;
  }
  const std::int64_t rounded = offset + step - 1;
  return f.symbols.floordiv(rounded < 0 ? f.symbols.sub(n, -rounded) : f.symbols.add(n, rounded), step);
}

struct strided_slice : op<strided_slice, "strided_slice"> {
  using attrs = stride_attrs;
  static constexpr trait traits = trait::bounded;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const attrs a = f.attrs<attrs>();
    extents r = f.in(0);
    for (int i = 0; i < r.rank; ++i) {
      f.require(a.stride[i] != 0, problem::slice_stride);
      if (a.stride[i] == 0) continue;
      r[i] = r[i] >= 0 ? resolve_walk(r[i], a.begin[i], a.end[i], a.stride[i]).count
                       : named_walk_count(f, r[i], a.begin[i], a.end[i], a.stride[i]);
    }
    f.out(r, f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// dy back where its elements came from, in zeros of the declared shape.
struct strided_slice_gradient : op<strided_slice_gradient, "strided_slice_gradient"> {
  using attrs = stride_attrs;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.type(0)); }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<strided_slice>(g.attrs<attrs>(), g.dy())); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr void strided_slice::gradient(gradient_step& g) {
  g.to(0, emit_as<strided_slice_gradient>(g.in(0).shape(), g.in(0).type(), g.attrs<attrs>(), g.dy()));
}

}  // namespace flowgraph::ops
