// Einstein's summation. The op itself is a plain loop over all letters; simplify turns what it can into matmul,
// transpose, mul and reduce_sum, which do it better.
#pragma once
#include <cstdint>

#include "equation.hpp"
#include "matmul.hpp"

namespace flowgraph::ops {

// embed: a letter may stand more than once in the result, which is zero off that diagonal. Only gradients say it: it
// is what undoes a diagonal.
struct einsum_attrs {
  einsum_text text;
  std::int64_t embed;
};

// From a node with any number of operands.
FLOWGRAPH_CONSTEXPR ref emit_einsum(const einsum_equation& e, const ref* operands);

struct einsum : op<einsum, "einsum"> {
  using attrs = einsum_attrs;

  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    const attrs a = f.attrs<attrs>();
    const einsum_equation e = parse(a.text);
    f.require(e.why == problem::none, e.why);
    f.require(e.terms == f.operands(), problem::einsum_syntax);
    extent of[26]{};
    bool known[26]{};
    for (int i = 0; i < f.operands() && i < e.terms; ++i) {
      const einsum_term& t = e.term[i];
      f.require(t.length == f.in(i).rank, problem::einsum_rank);
      f.require(f.type(i) == f.type(0), problem::dtypes_differ);
      for (int k = 0; k < t.length && k < f.in(i).rank; ++k) {
        const int letter = t.letters[k] - 'a';
        if (!known[letter]) of[letter] = f.in(i)[k];
        f.require(of[letter] == f.in(i)[k], problem::einsum_extents);
        known[letter] = true;
      }
    }
    f.require(f.type(0) != dtype::boolean, problem::dtype_unsupported);
    f.require(e.result.length <= max_rank, problem::rank_too_high);
    extents r;
    for (int k = 0; k < e.result.length && k < max_rank; ++k) {
      const char c = e.result.letters[k];
      f.require(known[c - 'a'] && (a.embed || e.result.count(c) == 1), problem::einsum_output);
      r.push(known[c - 'a'] ? of[c - 'a'] : 1);
    }
    f.out(r, f.type(0));
  }

  // Linear in each operand: the gradient by one of them is dy with the others, summed to its letters. A letter that
  // occurs in that operand alone was summed there: the gradient is repeated along it. A letter that stands twice in
  // it took a diagonal: the gradient lies on that diagonal.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const einsum_equation e = parse(g.attrs<attrs>().text);
    for (int i = 0; i < e.terms; ++i)
      if (g.wants(i)) g.to(i, derivative(e, i, g));
  }

  static constexpr int simplify(rewriter& r);

  // One multiplication for each operand beyond the first and one addition, for every combination of letters.
  static FLOWGRAPH_CONSTEXPR std::int64_t flops(const cost_query& q) {
    const einsum_equation e = parse(q.attrs<attrs>().text);
    std::int64_t n = 1;
    bool seen[26]{};
    for (int i = 0; i < e.terms; ++i)
      for (int k = 0; k < e.term[i].length; ++k) {
        const int letter = e.term[i].letters[k] - 'a';
        if (!seen[letter]) n *= q.in(i)[k];
        seen[letter] = true;
      }
    return n * e.terms;
  }

 private:
  static FLOWGRAPH_CONSTEXPR ref derivative(const einsum_equation& e, int by, const gradient_step& g) {
    const ref x = g.in(by);
    const einsum_term &wanted = e.term[by], letters = wanted.distinct();
    einsum_equation d;
    ref operands[einsum_equation::max_terms];
    operands[0] = g.dy();
    d.push(e.result);
    for (int i = 0; i < e.terms; ++i)
      if (i != by) {
        operands[d.terms] = g.in(i);
        d.push(e.term[i]);
      }
    extents with_ones, whole;
    for (int k = 0; k < letters.length; ++k) {
      const char c = letters.letters[k];
      const extent n = x.shape()[wanted.find(c)];
      if (d.occurrences(c) > 0) d.result.push(c);
      with_ones.push(d.occurrences(c) > 0 ? n : 1);
      whole.push(n);
    }
    if (d.result.length == letters.length) {  // nothing to repeat along: straight onto the operand's letters
      d.result = wanted;
      return emit_einsum(d, operands);
    }
    const ref sum = emit_as<reshape>(with_ones, x.type(), emit_einsum(d, operands));
    const ref repeated = emit_as<broadcast_to>(whole, x.type(), sum);
    if (!wanted.repeats()) return repeated;
    einsum_equation diagonal;
    diagonal.push(letters);
    diagonal.result = wanted;
    return emit_einsum(diagonal, &repeated);
  }
};

FLOWGRAPH_CONSTEXPR ref emit_einsum(const einsum_equation& e, const ref* operands) {
  if (e.terms == 1 && e.term[0] == e.result && !e.result.repeats()) return operands[0];
  int in[einsum_equation::max_terms]{};
  for (int i = 0; i < e.terms; ++i) in[i] = operands[i].id;
  const auto words = detail::words_of(einsum_attrs{pack(e), e.result.repeats()});
  graph_data& g = *operands[0].graph;
  return {&g, detail::append_inferred(g, op_def_of<einsum>, in, e.terms, words.w, detail::attr_words<einsum_attrs>)};
}

// The cheaper form of a node that is a part of a larger one: the pass asks only for the whole.
FLOWGRAPH_CONSTEXPR ref simplified(ref x) {
  while (x.get().op->is(trait::has_simplify)) {
    rewriter again(*x.graph, x.id);
    const int next = x.get().op->simplify(again);
    if (next == rewriter::keep) break;
    x.id = next;
  }
  return x;
}

// x, whose axes are named by from, in the order of to. Both have the same letters, each once.
FLOWGRAPH_CONSTEXPR ref with_letters(ref x, const einsum_term& from, const einsum_term& to) {
  if (from == to) return x;
  permutation p{};
  for (int i = 0; i < to.length; ++i) p.set(i, from.find(to.letters[i]));
  return simplified(emit<transpose>(p, x));
}

// x without the letters that nobody else needs: their sum. Updates the term.
FLOWGRAPH_CONSTEXPR ref sum_unneeded(ref x, einsum_term& t, const einsum_term& other, const einsum_term& result) {
  std::int64_t mask = 0;
  einsum_term kept;
  for (int i = 0; i < t.length; ++i) {
    if (other.has(t.letters[i]) || result.has(t.letters[i]))
      kept.push(t.letters[i]);
    else
      mask |= std::int64_t{1} << i;
  }
  t = kept;
  return mask == 0 ? x : emit<reduce_sum>({.axes = mask, .keep = 0}, x);
}

// The letters of a two-operand equation by their part in it.
struct contraction {
  einsum_term batch, left, right, summed;

  constexpr contraction(const einsum_term& a, const einsum_term& b, const einsum_term& result) {
    for (int i = 0; i < a.length; ++i) {
      const char c = a.letters[i];
      (!b.has(c) ? left : result.has(c) ? batch : summed).push(c);
    }
    for (int i = 0; i < b.length; ++i)
      if (!a.has(b.letters[i])) right.push(b.letters[i]);
  }
};

FLOWGRAPH_CONSTEXPR einsum_term joined(const einsum_term& a, const einsum_term& b, const einsum_term& c) {
  einsum_term t = a;
  for (int i = 0; i < b.length; ++i) t.push(b.letters[i]);
  for (int i = 0; i < c.length; ++i) t.push(c.letters[i]);
  return t;
}

// [batch letters..., product of rows, product of columns]
FLOWGRAPH_CONSTEXPR ref as_batched_matrix(ref x, const einsum_term& names, const contraction& c,
                                          const einsum_term& rows, const einsum_term& columns) {
  const ref ordered = with_letters(x, names, joined(c.batch, rows, columns));
  const extents from = ordered.shape();
  extents to;
  extent n = 1;
  int at = 0;
  for (; at < c.batch.length; ++at) to.push(from[at]);
  for (; at < c.batch.length + rows.length; ++at) n = x.graph->symbols.mul(n, from[at]);
  to.push(n);
  for (n = 1; at < from.rank; ++at) n = x.graph->symbols.mul(n, from[at]);
  to.push(n);
  return from == to ? ordered : emit_as<reshape>(to, x.type(), ordered);
}

// Two operands with something to sum: a (batched) matrix product.
FLOWGRAPH_CONSTEXPR ref as_matmul(ref a, const einsum_term& ta, ref b, const einsum_term& tb,
                                  const einsum_term& result) {
  const contraction c(ta, tb, result);
  const ref left = as_batched_matrix(a, ta, c, c.left, c.summed),
            right = as_batched_matrix(b, tb, c, c.summed, c.right);
  const ref product = simplified(emit<matmul>(matmul::attrs{0, 0}, left, right));
  const einsum_term order = joined(c.batch, c.left, c.right);
  extents shape;
  for (int i = 0; i < order.length; ++i) {
    const char l = order.letters[i];
    shape.push(ta.has(l) ? a.shape()[ta.find(l)] : b.shape()[tb.find(l)]);
  }
  const ref apart = shape == product.shape() ? product : emit_as<reshape>(shape, a.type(), product);
  return with_letters(apart, order, result);
}

// Axes in the result's order, extent 1 for the letters it lacks: it broadcasts to the result.
FLOWGRAPH_CONSTEXPR ref spread(ref x, const einsum_term& t, const einsum_term& result) {
  einsum_term present;
  extents shape;
  for (int i = 0; i < result.length; ++i) {
    const char c = result.letters[i];
    if (t.has(c)) present.push(c);
    shape.push(t.has(c) ? x.shape()[t.find(c)] : 1);
  }
  const ref ordered = with_letters(x, t, present);
  return shape == ordered.shape() ? ordered : emit_as<reshape>(shape, x.type(), ordered);
}

// More than two operands: from the left, the first two and then their result with the rest.
FLOWGRAPH_CONSTEXPR int first_two_first(const einsum_equation& e, const rewriter& r) {
  einsum_equation first, rest;
  ref operands[einsum_equation::max_terms];
  first.push(e.term[0]);
  first.push(e.term[1]);
  rest.push(first.result);
  rest.result = e.result;
  for (int i = 2; i < e.terms; ++i) {
    operands[i - 1] = r.in(i);
    rest.push(e.term[i]);
  }
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < e.term[i].length; ++k) {
      const char c = e.term[i].letters[k];
      if (!first.result.has(c) && (rest.occurrences(c) > 0 || e.result.has(c))) first.result.push(c);
    }
  if (first.result.length > max_rank) return rewriter::keep;
  rest.term[0] = first.result;
  const ref pair[] = {r.in(0), r.in(1)};
  operands[0] = simplified(emit_einsum(first, pair));
  return emit_einsum(rest, operands).id;
}

constexpr int einsum::simplify(rewriter& r) {
  const einsum_equation e = parse(r.self.attrs<attrs>().text);
  if (e.result.repeats()) return rewriter::keep;
  for (int i = 0; i < e.terms; ++i)
    if (e.term[i].repeats()) return rewriter::keep;
  if (e.terms > 2) return first_two_first(e, r);
  einsum_term a = e.term[0];
  if (e.terms == 1) {
    const ref sum = sum_unneeded(r.in(0), a, {}, e.result);
    return with_letters(sum, a, e.result).id;
  }
  einsum_term b = e.term[1];
  const ref x = sum_unneeded(r.in(0), a, b, e.result), y = sum_unneeded(r.in(1), b, a, e.result);
  const contraction c(a, b, e.result);
  if (c.summed.length == 0) return (spread(x, a, e.result) * spread(y, b, e.result)).id;
  if (c.batch.length + 2 > max_rank) return rewriter::keep;
  return as_matmul(x, a, y, b, e.result).id;
}

}  // namespace flowgraph::ops
