// Matrix ops: result types with named extents, gradients and simplifications as graphs.
#include <doctest/doctest.h>

#include <flowgraph/functions/einsum.hpp>
#include <flowgraph/functions/linalg.hpp>
#include <flowgraph/language/gradients.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim time_steps{"time"};

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

constexpr bool types() {
  fg::graph g;
  const auto x = g.placeholder<float, batch, time_steps, 4>("x");
  const auto w = g.placeholder<float, 4, 3>("w");
  const auto s = g.placeholder<double, batch, 5, 5>("s");
  const auto b = g.placeholder<double, 5, 2>("b");
  const auto one = g.placeholder<double, 5, 5>("one");
  const auto v = g.placeholder<double, 5>("v");
  static_assert(same<decltype(matmul(x, w)), fg::tensor<float, batch, time_steps, 3>>);
  static_assert(same<decltype(fg::matmul<fg::transpose_a>(x, x)), fg::tensor<float, batch, 4, 4>>);
  static_assert(same<decltype(fg::matmul<fg::transpose_b>(x, x)), fg::tensor<float, batch, time_steps, time_steps>>);
  static_assert(
      same<decltype(fg::matmul<fg::transpose_a | fg::transpose_b>(w, x)), fg::tensor<float, batch, 3, time_steps>>);
  static_assert(same<decltype(transpose(x)), fg::tensor<float, 4, time_steps, batch>>);
  static_assert(same<decltype(fg::transpose<0, -1, 1>(x)), fg::tensor<float, batch, 4, time_steps>>);

  static_assert(same<decltype(fg::einsum<"bti,ij->jbt">(x, w)), fg::tensor<float, 3, batch, time_steps>>);
  static_assert(same<decltype(fg::einsum<"bti, ij">(x, w)), fg::tensor<float, batch, 3, time_steps>>);
  static_assert(same<decltype(fg::einsum<"bii->b">(s)), fg::tensor<double, batch>>);
  static_assert(same<decltype(fg::einsum<"i,ij,bjk,kl->bl">(v, one, s, b)), fg::tensor<double, batch, 2>>);
  static_assert(same<decltype(fg::einsum<"bti->">(x)), fg::tensor<float>>);

  static_assert(same<decltype(matrix_inverse(s)), fg::tensor<double, batch, 5, 5>>);
  static_assert(same<decltype(matrix_determinant(s)), fg::tensor<double, batch>>);
  static_assert(same<decltype(cholesky(s)), fg::tensor<double, batch, 5, 5>>);
  static_assert(same<decltype(solve(s, b)), fg::tensor<double, batch, 5, 2>>);
  static_assert(same<decltype(solve(one, v)), fg::tensor<double, 5>>);
  static_assert(
      same<decltype(triangular_solve(s, b, fg::triangle::upper, fg::adjoint::yes)), fg::tensor<double, batch, 5, 2>>);
  static_assert(same<decltype(diag(x)), fg::tensor<float, batch, time_steps, 4, 4>>);
  static_assert(same<decltype(diag_part(s)), fg::tensor<double, batch, 5>>);
  static_assert(same<decltype(trace(s)), fg::tensor<double, batch>>);
  static_assert(same<decltype(band_part(x, 1, 0)), decltype(band_part(x, -1, -1))>);
  return true;
}
static_assert(types());

template <class F>
constexpr bool differentiable_twice(const F& f) {
  fg::graph g;
  const auto a = g.placeholder<float, batch, 4, 4>("a");
  const auto b = g.placeholder<float, 4, 4>("b");
  const auto [da, db] = gradients(reduce_sum(square(f(a, b))), a, b);
  const auto [dda, ddb] = gradients(reduce_sum(square(da)) + reduce_sum(square(db)), a, b);
  return g.data().first_fault.why == fg::problem::none && fg::ref(da).shape() == fg::ref(a).shape() &&
         fg::ref(db).shape() == fg::ref(b).shape() && fg::ref(dda).shape() == fg::ref(a).shape() &&
         fg::ref(ddb).shape() == fg::ref(b).shape();
}
static_assert(differentiable_twice([](auto a, auto b) { return matmul(a, b); }));
static_assert(differentiable_twice([](auto a, auto b) { return fg::matmul<fg::transpose_a>(b, a); }));
static_assert(differentiable_twice([](auto a, auto b) { return fg::matmul<fg::transpose_a | fg::transpose_b>(a, b); }));
static_assert(differentiable_twice([](auto a, auto b) { return transpose(a + b); }));
static_assert(differentiable_twice([](auto a, auto b) { return fg::einsum<"bij,jj->ib">(a, b); }));
static_assert(differentiable_twice([](auto a, auto b) { return fg::einsum<"bii,jk->k">(a, b); }));
static_assert(differentiable_twice([](auto a, auto b) { return matrix_inverse(a + b); }));
static_assert(differentiable_twice([](auto a, auto b) { return matrix_determinant(a + b); }));
static_assert(differentiable_twice([](auto a, auto b) { return cholesky(a + b); }));
static_assert(differentiable_twice([](auto a, auto b) { return solve(a, b) + solve(b, a); }));
static_assert(differentiable_twice([](auto a, auto b) { return triangular_solve(a, b, fg::triangle::upper); }));
static_assert(differentiable_twice([](auto a, auto b) { return trace(a + diag(diag_part(b))); }));

// One weight for a whole batch: its gradient is one product over all rows, and no [batch, ...] of it is made.
constexpr bool gradient_of_shared_weight() {
  fg::graph g;
  const auto x = g.placeholder<float, batch, time_steps, 4>("x");
  const auto w = g.placeholder<float, 4, 3>("w");
  const fg::ref dw(gradients(reduce_sum(matmul(x, w)), w));
  return dw.is(fg::op_def_of<fg::ops::matmul>) && dw.input(0).rank() == 2 &&
         dw.input(0).shape()[0] == g.data().symbols.intern("batch*time");
}
static_assert(gradient_of_shared_weight());

// The node that stands for another in the end.
template <class T>
constexpr fg::ref cheapest(const T& x) {
  return fg::ops::simplified(fg::ref(x));
}
template <class Op>
constexpr bool is(fg::ref x) {
  return x.is(fg::op_def_of<Op>);
}

constexpr bool transposes_vanish() {
  fg::graph g;
  const auto x = g.placeholder<float, batch, time_steps, 4>("x");
  const auto y = g.placeholder<float, batch, 1, 4>("y");
  const auto [ta, tb] = cheapest(matmul(fg::transpose<0, 2, 1>(x), x)).template attrs<fg::ops::matmul::attrs>();
  const fg::ref both = cheapest(fg::matmul<fg::transpose_b>(x, fg::transpose<0, 2, 1>(fg::transpose<0, 2, 1>(x))));
  return cheapest(transpose(transpose(x))).id == x.id && cheapest(fg::transpose<0, 1, 2>(x)).id == x.id &&
         is<fg::ops::reshape>(cheapest(fg::transpose<1, 0, 2>(y))) && is<fg::ops::transpose>(cheapest(transpose(x))) &&
         is<fg::ops::transpose>(cheapest(fg::transpose<1, 0, 2>(transpose(x)))) && ta == 1 && tb == 0 &&
         is<fg::ops::matmul>(both) && both.attrs<fg::ops::matmul::attrs>().transpose_b == 1 && both.input(1).id == x.id;
}
static_assert(transposes_vanish());

constexpr bool einsum_becomes_cheaper_ops() {
  fg::graph g;
  const auto a = g.placeholder<float, batch, time_steps, 4>("a");
  const auto b = g.placeholder<float, 5, 4>("b");
  const auto c = g.placeholder<float, 5, batch>("c");
  const fg::ref product = cheapest(fg::einsum<"bti,ji->btj">(a, b));
  const fg::ref plain = cheapest(fg::einsum<"ij,ik->jk">(b, c));
  const fg::ref chain = cheapest(fg::einsum<"bti,ji,jk->tk">(a, b, c));
  const auto flags = plain.attrs<fg::ops::matmul::attrs>();
  return is<fg::ops::reshape>(product) && is<fg::ops::matmul>(product.input(0)) &&  // [batch*time, 4] [4, 5]
         is<fg::ops::matmul>(plain) && flags.transpose_a == 1 && flags.transpose_b == 0 && is<fg::ops::matmul>(chain) &&
         is<fg::ops::reduce_sum>(cheapest(fg::einsum<"bti->bt">(a))) &&
         is<fg::ops::transpose>(cheapest(fg::einsum<"bti->itb">(a))) &&
         is<fg::ops::mul>(cheapest(fg::einsum<"ij,ib->bij">(b, c))) &&
         is<fg::ops::einsum>(cheapest(fg::einsum<"ii->i">(fg::matmul<fg::transpose_b>(b, b))));
}
static_assert(einsum_becomes_cheaper_ops());

}  // namespace
