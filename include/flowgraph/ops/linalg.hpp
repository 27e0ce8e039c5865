// Linear algebra on the last two axes, batched over the leading ones. Gradients are made of these same ops, so they
// can be differentiated again.
#pragma once
#include <cstdint>

#include "binary.hpp"
#include "matmul.hpp"

namespace flowgraph::ops {

// A floating-point operand whose last two axes are equal.
FLOWGRAPH_CONSTEXPR bool require_square(inference& f, int i) {
  const extents& a = f.in(i);
  f.require(is_floating(f.type(i)), problem::needs_floating);
  f.require(a.rank >= 2, problem::operand_rank);
  if (a.rank < 2) return false;
  f.require(a.last(0) == a.last(1), problem::square_matrix);
  return true;
}

// x with its last two axes summed to extent 1.
constexpr ref sum_matrix(ref x) { return emit<reduce_sum>({std::int64_t{3} << (x.rank() - 2), 1}, x); }

// A scalar for each matrix, as [..., 1, 1].
FLOWGRAPH_CONSTEXPR ref as_unit_matrices(ref x) {
  extents e = x.shape();
  e.push(1);
  e.push(1);
  return emit_as<reshape>(e, x.type(), x);
}

// The elements from `lower` diagonals below the main one to `upper` above it, zero elsewhere; negative: all of them.
struct band_part : op<band_part, "band_part"> {
  struct attrs {
    std::int64_t lower;
    std::int64_t upper;
  };
  static constexpr trait traits = trait::in_place;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.in(0).rank >= 2, problem::operand_rank);
    f.out(f.in(0), f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<band_part>(g.attrs<attrs>(), g.dy())); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

constexpr ref lower_triangle(ref x) { return emit<band_part>({.lower = -1, .upper = 0}, x); }
constexpr ref upper_triangle(ref x) { return emit<band_part>({.lower = 0, .upper = -1}, x); }
constexpr ref only_diagonal(ref x) { return emit<band_part>({.lower = 0, .upper = 0}, x); }

// The diagonal of each matrix: [..., n, n] -> [..., n].
struct diag_part : op<diag_part, "diag_part"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    extents r = f.in(0);
    f.require(r.rank >= 2, problem::operand_rank);
    if (r.rank >= 2) f.require(r.last(0) == r.last(1), problem::square_matrix);
    if (r.rank > 0) --r.rank;
    f.out(r, f.type(0));
  }
  static constexpr void gradient(gradient_step& g);
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

// A matrix with this diagonal and zeros elsewhere: [..., n] -> [..., n, n].
struct diag : op<diag, "diag"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    extents r = f.in(0);
    f.require(r.rank >= 1, problem::operand_rank);
    f.require(r.rank < max_rank, problem::rank_too_high);
    if (r.rank >= 1 && r.rank < max_rank) r.push(r.last(0));
    f.out(r, f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, emit<diag_part>(g.dy())); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};
constexpr void diag_part::gradient(gradient_step& g) { g.to(0, emit<diag>(g.dy())); }

// 2/3 n^3 operations for each matrix of a factorisation by elimination.
constexpr std::int64_t elimination_flops(const extents& a) { return element_count(a) * a.last(0) * 2 / 3; }

// A singular matrix fails the step.
struct matrix_inverse : op<matrix_inverse, "matrix_inverse"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_square(f, 0);
    f.out(f.in(0), f.type(0));
  }
  // Y = A^-1, dY = -Y dA Y: dA = -YT dY YT
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref y = g.y();
    const ref left = emit<matmul>(matmul::attrs{1, 0}, y, g.dy());
    g.to(0, -emit<matmul>(matmul::attrs{0, 1}, left, y));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return 3 * elimination_flops(q.in(0)); }
};

// The matrix of cofactors, det(A) A^-T where A has an inverse: the derivative of the determinant, defined at singular
// matrices too.
struct cofactors : op<cofactors, "cofactors"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_square(f, 0);
    f.out(f.in(0), f.type(0));
  }
  // With X = A^-T and C = det(A) X: dA = sum(dC X) C - X dCT C
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref c = g.y(), dc = g.dy();
    const ref x = transpose_last_two(emit<matrix_inverse>(g.in(0)));
    const ref turned = emit<matmul>(matmul::attrs{0, 0}, emit<matmul>(matmul::attrs{0, 1}, x, dc), c);
    g.to(0, sum_matrix(dc * x) * c - turned);
  }
  static constexpr std::int64_t flops(const cost_query& q) { return 3 * elimination_flops(q.in(0)); }
};

// [..., n, n] -> [...]
struct matrix_determinant : op<matrix_determinant, "matrix_determinant"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    extents r = f.in(0);
    if (require_square(f, 0)) r.rank -= 2;
    f.out(r, f.type(0));
  }
  static constexpr void gradient(gradient_step& g) { g.to(0, as_unit_matrices(g.dy()) * emit<cofactors>(g.in(0))); }
  static constexpr std::int64_t flops(const cost_query& q) { return elimination_flops(q.in(0)); }
};

// A matrix [..., n, n] and right-hand sides [..., n, k], leading axes broadcast as in matmul.
FLOWGRAPH_CONSTEXPR void infer_solve(inference& f) {
  const extents &a = f.in(0), &b = f.in(1);
  f.require(f.type(0) == f.type(1), problem::dtypes_differ);
  f.require(b.rank >= 2, problem::operand_rank);
  if (!require_square(f, 0) || b.rank < 2) return f.out(b, f.type(1));
  f.require(a.last(0) == b.last(1), problem::solve_rows);
  extents r;
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < r.rank; ++i) {
    const extent x = i < a.rank ? a.last(i) : 1, y = i < b.rank ? b.last(i) : 1;
    if (i < 2) {
      r[r.rank - 1 - i] = y;
      continue;
    }
    f.require(x == y || x == 1 || y == 1, problem::solve_batch);
    r[r.rank - 1 - i] = x == 1 ? y : x;
  }
  f.out(r, f.type(0));
}

// X with op(A) X = B, where A counts as triangular: the other triangle is not read. adjoint: op(A) is AT.
// A zero on the diagonal fails the step.
struct triangular_solve : op<triangular_solve, "triangular_solve"> {
  struct attrs {
    std::int64_t lower;
    std::int64_t adjoint;
  };
  static constexpr void infer(inference& f) { infer_solve(f); }
  // dB = op(A)^-T dX, dA = -dB XT or, with adjoint, its transpose; within the triangle.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref a = g.in(0), x = g.y();
    const auto [lower, adjoint] = g.attrs<attrs>();
    const ref db = emit<triangular_solve>(attrs{lower, !adjoint}, a, g.dy());
    if (g.wants(0)) {
      const ref da = -(adjoint ? emit<matmul>(matmul::attrs{0, 1}, x, db) : emit<matmul>(matmul::attrs{0, 1}, db, x));
      g.to(0, sum_to(lower ? lower_triangle(da) : upper_triangle(da), a));
    }
    g.to(1, sum_to(db, g.in(1)));
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.out()) * q.in(0).last(0); }
};

// X with A X = B, or AT X = B with adjoint. A singular matrix fails the step.
struct solve : op<solve, "solve"> {
  struct attrs {
    std::int64_t adjoint;
  };
  static constexpr void infer(inference& f) { infer_solve(f); }
  // As triangular_solve, without the triangle.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref a = g.in(0), x = g.y();
    const std::int64_t adjoint = g.attrs<attrs>().adjoint;
    const ref db = emit<solve>(attrs{!adjoint}, a, g.dy());
    if (g.wants(0)) {
      const ref da = -(adjoint ? emit<matmul>(matmul::attrs{0, 1}, x, db) : emit<matmul>(matmul::attrs{0, 1}, db, x));
      g.to(0, sum_to(da, a));
    }
    g.to(1, sum_to(db, g.in(1)));
  }
  static constexpr std::int64_t flops(const cost_query& q) {
    return elimination_flops(q.in(0)) + 2 * element_count(q.out()) * q.in(0).last(0);
  }
};

// The lower triangular L with L LT = A, of the symmetric part of A. A matrix that is not positive definite fails the
// step.
struct cholesky : op<cholesky, "cholesky"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    require_square(f, 0);
    f.out(f.in(0), f.type(0));
  }
  // Murray 2016 (arXiv:1602.07527): with P the lower triangle of LT dL, its diagonal halved, dA is the symmetric part
  // of L^-T P L^-1.
  static FLOWGRAPH_CONSTEXPR void gradient(gradient_step& g) {
    const ref l = g.y();
    const ref product = emit<matmul>(matmul::attrs{1, 0}, l, g.dy());
    const ref p = lower_triangle(product) - only_diagonal(product) * 0.5;
    constexpr triangular_solve::attrs by_transposed{1, 1};
    const ref half = transpose_last_two(emit<triangular_solve>(by_transposed, l, p));  // (L^-T P)T
    const ref s = emit<triangular_solve>(by_transposed, l, half);                      // (L^-T P L^-1)T
    g.to(0, (s + transpose_last_two(s)) * 0.5);
  }
  static constexpr std::int64_t flops(const cost_query& q) { return elimination_flops(q.in(0)) / 2; }
};

}  // namespace flowgraph::ops
