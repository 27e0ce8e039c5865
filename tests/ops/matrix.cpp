// Matrix ops against the referees and against differences; second derivatives.
#include <doctest/doctest.h>

#include <flowgraph/functions/einsum.hpp>
#include <flowgraph/functions/linalg.hpp>
#include <flowgraph/language/gradients.hpp>

#include "support/derivatives.hpp"
#include "support/op_rows.hpp"

namespace fg = flowgraph;

namespace {

using fg::tensor;
using fg::testing::op_rows;

TEST_CASE("products of matrices") {
  const op_rows rows("matrix");
  rows.row<tensor<float, 2, 3>, tensor<float, 3, 4>>("matmul_plain", [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 3, 2>, tensor<float, 3, 4>>("matmul_transposed_a",
                                                     [](auto a, auto b) { return fg::matmul<fg::transpose_a>(a, b); });
  rows.row<tensor<float, 2, 3>, tensor<float, 4, 3>>("matmul_transposed_b",
                                                     [](auto a, auto b) { return fg::matmul<fg::transpose_b>(a, b); });
  rows.row<tensor<float, 3, 2>, tensor<float, 4, 3>>(
      "matmul_transposed_both", [](auto a, auto b) { return fg::matmul<fg::transpose_a | fg::transpose_b>(a, b); });
  rows.row<tensor<float, 1, 5>, tensor<float, 5, 1>>("matmul_row_column", [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 3, 1>, tensor<float, 1, 2>>("matmul_column_row", [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 1, 1>, tensor<float, 1, 1>>("matmul_size_one", [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 2, 2, 3>, tensor<float, 2, 3, 2>>("matmul_batched",
                                                           [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 2, 3, 2>, tensor<float, 2, 3, 2>>(
      "matmul_batched_transposed_a", [](auto a, auto b) { return fg::matmul<fg::transpose_a>(a, b); });
  rows.row<tensor<float, 2, 2, 3>, tensor<float, 2, 2, 3>>(
      "matmul_batched_transposed_b", [](auto a, auto b) { return fg::matmul<fg::transpose_b>(a, b); });
  rows.row<tensor<float, 2, 3, 2>, tensor<float, 2, 2, 3>>("matmul_batched_transposed_both", [](auto a, auto b) {
    return fg::matmul<fg::transpose_a | fg::transpose_b>(a, b);
  });
  rows.row<tensor<float, 2, 1, 1, 2>, tensor<float, 2, 1, 2, 3>>("matmul_two_batch_axes",
                                                                 [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 1, 2, 2>, tensor<float, 3, 2, 2>>("matmul_batch_broadcast_size_one",
                                                           [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<float, 2, 2>, tensor<float, 2, 2, 3>>("matmul_batch_broadcast_rank",
                                                        [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<double, 2, 3>, tensor<double, 3, 2>>("matmul_f64", [](auto a, auto b) { return matmul(a, b); });
  rows.row<tensor<std::int32_t, 2, 3>, tensor<std::int32_t, 3, 2>>("matmul_i32",
                                                                   [](auto a, auto b) { return matmul(a, b); });
}

TEST_CASE("einsum") {
  const op_rows rows("matrix");
  rows.row<tensor<float, 2, 3>, tensor<float, 3, 2>>("einsum_matmul",
                                                     [](auto a, auto b) { return fg::einsum<"ij,jk->ik">(a, b); });
  rows.row<tensor<float, 2, 3>, tensor<float, 3, 2>>("einsum_transposed_output",
                                                     [](auto a, auto b) { return fg::einsum<"ij,jk->ki">(a, b); });
  rows.row<tensor<float, 3, 2>, tensor<float, 2, 3>>("einsum_transposed_operands",
                                                     [](auto a, auto b) { return fg::einsum<"ji,kj->ik">(a, b); });
  rows.row<tensor<float, 2, 2, 3>, tensor<float, 2, 3, 1>>(
      "einsum_batched", [](auto a, auto b) { return fg::einsum<"bij,bjk->bik">(a, b); });
  rows.row<tensor<float, 5>, tensor<float, 5>>("einsum_inner",
                                               [](auto a, auto b) { return fg::einsum<"i,i->">(a, b); });
  rows.row<tensor<float, 3>, tensor<float, 2>>("einsum_outer",
                                               [](auto a, auto b) { return fg::einsum<"i,j->ij">(a, b); });
  rows.row<tensor<float, 2, 3>, tensor<float, 2, 3>>("einsum_hadamard",
                                                     [](auto a, auto b) { return fg::einsum<"ij,ij->ij">(a, b); });
  rows.row<tensor<float, 3, 4>, tensor<float, 4>>("einsum_matrix_vector",
                                                  [](auto a, auto b) { return fg::einsum<"ij,j->i">(a, b); });
  rows.row<tensor<float, 2, 2>, tensor<float, 2, 2, 2>>("einsum_bilinear",
                                                        [](auto a, auto b) { return fg::einsum<"bi,ijk->bjk">(a, b); });
  rows.row<tensor<float, 1, 2, 2, 3>, tensor<float, 1, 3, 2, 3>>(
      "einsum_attention_scores", [](auto a, auto b) { return fg::einsum<"bqhd,bkhd->bhqk">(a, b); });
  rows.row<tensor<float, 1, 2, 2, 3>, tensor<float, 1, 3, 2, 2>>(
      "einsum_attention_values", [](auto a, auto b) { return fg::einsum<"bhqk,bkhd->bqhd">(a, b); });
  rows.row<tensor<float, 2, 2, 3>, tensor<float, 2, 3>>("einsum_contract_two",
                                                        [](auto a, auto b) { return fg::einsum<"ijk,jk->i">(a, b); });
  rows.row<tensor<float, 2, 3>, tensor<float, 2>>("einsum_sum_inside_one_operand",
                                                  [](auto a, auto b) { return fg::einsum<"ij,k->ik">(a, b); });
  rows.row<tensor<float, 2, 1, 3>>("einsum_transpose", [](auto a) { return fg::einsum<"ijk->kij">(a); });
  rows.row<tensor<float, 2, 3>>("einsum_row_sums", [](auto a) { return fg::einsum<"ij->i">(a); });
  rows.row<tensor<float, 2, 3>>("einsum_total", [](auto a) { return fg::einsum<"ij->">(a); });
  rows.row<tensor<float, 3, 3>>("einsum_trace", [](auto a) { return fg::einsum<"ii->">(a); });
  rows.row<tensor<float, 3, 3>>("einsum_diagonal", [](auto a) { return fg::einsum<"ii->i">(a); });
  rows.row<tensor<float, 2, 2>, tensor<float, 2, 3>, tensor<float, 3, 2>>(
      "einsum_three_operands", [](auto a, auto b, auto c) { return fg::einsum<"ij,jk,kl->il">(a, b, c); });
  rows.row<tensor<float, 3>, tensor<float, 3>, tensor<float, 3>>(
      "einsum_shared_by_three", [](auto a, auto b, auto c) { return fg::einsum<"i,i,i->i">(a, b, c); });
  rows.row<tensor<float>, tensor<float, 2, 2>>("einsum_scalar_operand",
                                               [](auto a, auto b) { return fg::einsum<",ij->ij">(a, b); });
  rows.row<tensor<float, 1, 3>, tensor<float, 3, 1>>("einsum_size_one",
                                                     [](auto a, auto b) { return fg::einsum<"ij,jk->ik">(a, b); });
}

TEST_CASE("inverses and determinants") {
  const op_rows rows("matrix");
  rows.row<tensor<double, 3, 3>>("matrix_inverse_3x3", [](auto a) { return matrix_inverse(a); });
  rows.row<tensor<double, 3, 3>>("matrix_determinant_3x3", [](auto a) { return matrix_determinant(a); });
  rows.row<tensor<double, 4, 4>>("matrix_inverse_4x4", [](auto a) { return matrix_inverse(a); });
  rows.row<tensor<double, 4, 4>>("matrix_determinant_4x4", [](auto a) { return matrix_determinant(a); });
  rows.row<tensor<double, 1, 1>>("matrix_inverse_1x1", [](auto a) { return matrix_inverse(a); });
  rows.row<tensor<double, 1, 1>>("matrix_determinant_1x1", [](auto a) { return matrix_determinant(a); });
  rows.row<tensor<double, 2, 2, 2>>("matrix_inverse_batched", [](auto a) { return matrix_inverse(a); });
  rows.row<tensor<double, 2, 2, 2>>("matrix_determinant_batched", [](auto a) { return matrix_determinant(a); });
  rows.row<tensor<double, 3, 3>>("matrix_inverse_pivot", [](auto a) { return matrix_inverse(a); });
  rows.row<tensor<double, 2, 2>>("matrix_determinant_negative", [](auto a) { return matrix_determinant(a); });
  rows.row<tensor<float, 3, 3>>("matrix_inverse_f32", [](auto a) { return matrix_inverse(a); });
}

TEST_CASE("cholesky") {
  const op_rows rows("matrix");
  rows.row<tensor<double, 3, 3>>("cholesky_3x3", [](auto a) { return cholesky(a); });
  rows.row<tensor<double, 4, 4>>("cholesky_4x4", [](auto a) { return cholesky(a); });
  rows.row<tensor<double, 1, 1>>("cholesky_1x1", [](auto a) { return cholesky(a); });
  rows.row<tensor<double, 2, 2, 2>>("cholesky_batched", [](auto a) { return cholesky(a); });
  rows.row<tensor<float, 3, 3>>("cholesky_f32", [](auto a) { return cholesky(a); });
}

TEST_CASE("solvers") {
  const op_rows rows("matrix");
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 1>>("solve_3x3_1_right", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 2>>("solve_3x3_2_right", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 4, 4>, tensor<double, 4, 1>>("solve_4x4_1_right", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 4, 4>, tensor<double, 4, 2>>("solve_4x4_2_right", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 1, 1>, tensor<double, 1, 1>>("solve_1x1_1_right", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 1, 1>, tensor<double, 1, 2>>("solve_1x1_2_right", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 2, 2, 2>, tensor<double, 2, 2, 1>>("solve_batched_1_right",
                                                             [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 2, 2, 2>, tensor<double, 2, 2, 2>>("solve_batched_2_right",
                                                             [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 1>>("solve_pivot", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<float, 3, 3>, tensor<float, 3, 2>>("solve_f32", [](auto a, auto b) { return solve(a, b); });
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 2>>(
      "triangular_solve_3x3_lower", [](auto a, auto b) { return triangular_solve(a, b, fg::triangle::lower); });
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 2>>("triangular_solve_3x3_lower_transposed", [](auto a, auto b) {
    return triangular_solve(a, b, fg::triangle::lower, fg::adjoint::yes);
  });
  rows.row<tensor<double, 2, 2, 2>, tensor<double, 2, 2, 1>>(
      "triangular_solve_batched_lower_transposed",
      [](auto a, auto b) { return triangular_solve(a, b, fg::triangle::lower, fg::adjoint::yes); });
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 2>>(
      "triangular_solve_3x3_upper", [](auto a, auto b) { return triangular_solve(a, b, fg::triangle::upper); });
  rows.row<tensor<double, 2, 2, 2>, tensor<double, 2, 2, 1>>(
      "triangular_solve_batched_upper", [](auto a, auto b) { return triangular_solve(a, b, fg::triangle::upper); });
  rows.row<tensor<double, 3, 3>, tensor<double, 3, 2>>("triangular_solve_3x3_upper_transposed", [](auto a, auto b) {
    return triangular_solve(a, b, fg::triangle::upper, fg::adjoint::yes);
  });
}

TEST_CASE("diagonals") {
  const op_rows rows("matrix");
  rows.row<tensor<float, 3>>("diag_3", [](auto a) { return diag(a); });
  rows.row<tensor<float, 3, 3>>("diag_part_3", [](auto a) { return diag_part(a); });
  rows.row<tensor<float, 3, 3>>("trace_3", [](auto a) { return trace(a); });
  rows.row<tensor<float, 1>>("diag_1", [](auto a) { return diag(a); });
  rows.row<tensor<float, 1, 1>>("diag_part_1", [](auto a) { return diag_part(a); });
  rows.row<tensor<float, 1, 1>>("trace_1", [](auto a) { return trace(a); });
}

TEST_CASE("transpose") {
  const op_rows rows("array");
  rows.row<tensor<float, 2, 3>>("transpose_matrix", [](auto a) { return fg::transpose<1, 0>(a); });
  rows.row<tensor<float, 2, 3, 4>>("transpose_rotate", [](auto a) { return fg::transpose<2, 0, 1>(a); });
  rows.row<tensor<float, 2, 3, 4>>("transpose_outer", [](auto a) { return fg::transpose<1, 0, 2>(a); });
  rows.row<tensor<float, 2, 3, 2>>("transpose_inner", [](auto a) { return fg::transpose<0, 2, 1>(a); });
  rows.row<tensor<float, 2, 3>>("transpose_same", [](auto a) { return fg::transpose<0, 1>(a); });
  rows.row<tensor<float, 1, 2, 3, 2>>("transpose_four", [](auto a) { return fg::transpose<0, 3, 1, 2>(a); });
  rows.row<tensor<float, 1, 5>>("transpose_size_one", [](auto a) { return fg::transpose<1, 0>(a); });
}

TEST_CASE("second derivatives of matrix ops") {
  using fg::testing::check_second_order;
  using square_matrix = tensor<double, 3, 3>;
  check_second_order<tensor<double, 2, 3>>([](auto x) { return matmul(x, square(transpose(x))); });
  check_second_order<square_matrix>([](auto x) { return fg::einsum<"ii,ij,jk->k">(x, x, x); });
  check_second_order<square_matrix>([](auto x) { return fg::einsum<"ij,jj->">(square(x), x); });
  check_second_order<square_matrix>([](auto x) { return matrix_inverse(x); });
  check_second_order<square_matrix>([](auto x) { return matrix_determinant(x); });
  check_second_order<square_matrix>([](auto x) { return solve(x, square(transpose(x))); });
  check_second_order<square_matrix>([](auto x) { return triangular_solve(x, square(x)); });
  check_second_order<square_matrix>(
      [](auto x) { return triangular_solve(x, square(x), fg::triangle::upper, fg::adjoint::yes); });
  check_second_order<square_matrix>(
      [](auto x) { return cholesky(fg::matmul<fg::transpose_b>(x, x) + diag(square(diag_part(x)) + 1)); });
  check_second_order<square_matrix>([](auto x) { return square(trace(x)) * diag(square(diag_part(x))); });
}

TEST_CASE("the gradient of a determinant exists where the inverse does not") {
  using fg::testing::check_gradient_at;
  check_gradient_at<tensor<double, 2, 2>>([](auto x) { return matrix_determinant(x); }, {1, 2, 2, 4}, {4, -2, -2, 1});
  check_gradient_at<tensor<double, 2, 2>>([](auto x) { return matrix_determinant(x); }, {0, 0, 0, 0}, {0, 0, 0, 0});
}

}  // namespace
