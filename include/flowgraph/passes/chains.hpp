// Chains of instructions that follow each other whatever happens, because each reads what the one before it gives.
// Where a plan has many of them beside each other, memory that goes from one to another would make them wait:
// passes/memory.hpp asks here.
#pragma once
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/plan/instruction_work.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

// What instructions cost with every name counted as 32. Shapes are looked at once, and so are ops on the same shapes.
class nominal_work {
 public:
  constexpr explicit nominal_work(const plan_data& p) : p_(p), elements_(p.shapes.count) {}

  constexpr std::int64_t of(const instruction& x) {
    const operand* o = p_.operands.data + x.operands;
    return instruction_work(
        p_.programs.data, x, [&](int k) { return elements(o[k].shape); }, [&] { return flops(x, o); });
  }

 private:
  constexpr extents extents_of(int shape) const {
    extents e;
    const shape_entry& s = p_.shapes.data[shape];
    for (const extent *d = p_.dims.data + s.dims, *end = d + s.rank; d != end; ++d) e.push(*d < 0 ? 32 : *d);
    return e;
  }
  constexpr std::int64_t elements(int shape) {
    std::int64_t& n = elements_.data[shape];
    if (n == 0) n = element_count(extents_of(shape));
    return n;
  }
  // The shapes of its first two operands and its result tell nearly all calls of an op apart: an estimate needs no
  // more.
  constexpr std::int64_t flops(const instruction& x, const operand* o) {
    std::uint64_t key = x.op->id + static_cast<unsigned>(o[x.n_operands].shape);
    if (x.n_operands > 0) key = detail::mix(key, static_cast<unsigned>(o[0].shape));
    if (x.n_operands > 1) key = detail::mix(key, static_cast<unsigned>(o[1].shape));
    int found = known_.find(key);
    if (found < 0) {
      found = flops_.push(flops_of(p_.view(), x, [&](int k) { return extents_of(o[k].shape); }));
      known_.set(key, found);
    }
    return flops_.data[found];
  }

  const plan_data& p_;
  detail::vec<std::int64_t> elements_;  // of each shape
  detail::hash_map known_;              // to flops_
  detail::vec<std::int64_t> flops_;
};

// Is there twice as much to do as the longest chain has, counting values alone? Training a plain stack of layers has
// one and a half times as much: its plans keep their memory tight. Plans with control flow, whose regions run with
// their owner, and plans for several devices, which share no memory, do not count as wide.
constexpr bool is_wide(const plan_data& p, int values) {
  constexpr int too_few = 8;
  if (p.regions.count > 1 || p.instructions.count < too_few) return false;
  nominal_work work(p);
  detail::vec<std::int64_t> there(values);  // when each value is
  std::int64_t total = 0, longest = 0;
  for (const instruction& x : p.instructions) {
    if (x.device != p.instructions.data[0].device) return false;
    const operand *o = p.operands.data + x.operands, *out = o + x.n_operands, *end = out + x.n_outputs;
    std::int64_t t = 0;
    for (; o != out; ++o)
      if (o->where == storage::slot && there.data[o->index] > t) t = there.data[o->index];
    const std::int64_t own = work.of(x);
    t += own, total += own;
    for (; o != end; ++o) there.data[o->index] = t;
    if (t > longest) longest = t;
  }
  return total >= 2 * longest;
}

// Instructions join in the order of the plan. One that reads the last of a chain continues it; other chains whose last
// it reads end there, and belong to it from then on.
class chains {
 public:
  static constexpr int none = 0, several = -1;  // instead of a chain

  // values: 0 where nobody will join.
  constexpr chains(const plan_data& p, int values)
      : p_(p),
        writer_(values),
        of_(values == 0 ? 0 : p.instructions.count) {
    if (values != 0) all_.push({});
  }

  // The chain of instruction i.
  constexpr int join(int i) {
    const instruction& x = p_.instructions.data[i];
    const operand *o = p_.operands.data + x.operands, *out = o + x.n_operands, *end = out + x.n_outputs;
    int mine = none, latest = 0;
    for (; o != out; ++o) {
      const int w = o->where == storage::slot ? writer_.data[o->index] : 0;
      if (w == 0) continue;
      const int c = of_.data[w - 1];
      if (all_.data[c].last != w)
        latest = w > latest ? w : latest;
      else if (mine == none)
        mine = c, all_.data[c].last = i + 1;
      else
        all_.data[c].into = mine, all_.data[c].last = 0;
    }
    if (mine == none) mine = all_.push({i + 1, none, latest == 0 ? none : of_.data[latest - 1], latest});
    for (; o != end; ++o) writer_.data[o->index] = i + 1;
    return of_.data[i] = mine;
  }

  // The chain that has read a value, given who had before: several if they need not wait for each other.
  constexpr int read(int before, int now) {
    return before == none || (before != several && root(before) == root(now)) ? now : several;
  }
  // Does what joins chain `now` at present come after instruction i of chain c, and all before it?
  constexpr bool follows(int now, int c, int i) {
    return c > none && (c == now || (c == all_.data[now].from && i < all_.data[now].latest) ||
                        (all_.data[c].into != none && root(c) == now));
  }

 private:
  struct chain {
    int last = 0;     // its last instruction + 1; 0: it has ended
    int into = none;  // the chain it belongs to since
    int from = none;  // where it branched off: the chain,
    int latest = 0;   // and the instruction + 1
  };

  constexpr int root(int c) {
    while (all_.data[c].into != none) {
      const int up = all_.data[all_.data[c].into].into;
      if (up != none) all_.data[c].into = up;
      c = all_.data[c].into;
    }
    return c;
  }

  const plan_data& p_;
  detail::vec<int> writer_;  // of each value: instruction + 1
  detail::vec<int> of_;      // of each instruction
  detail::vec<chain> all_;   // [0] is unused
};

}  // namespace flowgraph::passes
