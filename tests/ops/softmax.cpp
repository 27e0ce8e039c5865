// Softmax and its losses: result types, and the gradient as a graph.
#include <doctest/doctest.h>

#include <cmath>

#include <flowgraph/core/error.hpp>
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/kernels/cpu/softmax.hpp>
#include <flowgraph/language/define.hpp>
#include <flowgraph/passes/gradient.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim time_steps{"time"};

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

constexpr bool types() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 10>("x");
  auto sequence = g.placeholder<double, batch, time_steps, 5>("sequence");
  auto labels = g.placeholder<std::int32_t, batch>("labels");
  auto words = g.placeholder<std::int64_t, batch, time_steps>("words");
  auto dense = g.placeholder<float, batch, 10>("dense");
  static_assert(same<decltype(softmax(x)), fg::tensor<float, batch, 10>>);
  static_assert(same<decltype(fg::softmax<0>(x)), fg::tensor<float, batch, 10>>);
  static_assert(same<decltype(fg::log_softmax<-2>(sequence)), fg::tensor<double, batch, time_steps, 5>>);
  static_assert(same<decltype(softmax_cross_entropy_with_logits(x, labels)), fg::tensor<float, batch>>);
  static_assert(same<decltype(softmax_cross_entropy_with_logits(x, dense)), fg::tensor<float, batch>>);
  static_assert(
      same<decltype(softmax_cross_entropy_with_logits(sequence, words)), fg::tensor<double, batch, time_steps>>);
  return true;
}
static_assert(types());

// Of the first and, through it, of the second order: no fault on the way, shapes as the operand's.
constexpr bool twice_differentiable() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 10>("x");
  auto labels = g.placeholder<std::int64_t, batch>("labels");
  auto loss = softmax_cross_entropy_with_logits(x, labels);
  fg::ref total = fg::ops::sum_to(fg::ref(loss), fg::ops::scalar_like(fg::ref(loss), 0));
  for (int order = 0; order < 2; ++order) {
    int dx = -1;
    fg::passes::gradient(g.data(), total.id, &x.id, 1, &dx);
    const fg::ref gradient{&g.data(), dx};
    if (!(gradient.shape() == fg::ref(x).shape())) return false;
    if (gradient.is(fg::op_def_of<fg::ops::constant>)) return false;
    total = fg::ops::sum_to(gradient * gradient, fg::ops::scalar_like(gradient, 0));
  }
  return g.data().first_fault.why == fg::problem::none;
}
static_assert(twice_differentiable());

}  // namespace

TEST_CASE("a label outside the classes names itself and its row") {
  float logits[] = {1, 2, 3, 4, 5, 6}, loss[2];
  std::int64_t labels[] = {1, 3};
  const std::int64_t dims[] = {2, 3};
  const fg::array_view in[] = {{logits, dims, 2, fg::dtype::float32}, {labels, dims, 1, fg::dtype::int64}};
  const fg::array_view out[] = {{loss, dims, 1, fg::dtype::float32}};
  const fg::kernel_args k{.in = in, .out = out, .n_in = 2, .n_out = 1};
  CHECK_THROWS_WITH_AS(fg::cpu_kernel<fg::ops::sparse_softmax_cross_entropy>::run<float>(k),
                       "label 3 of row 1 must lie between 0 and 2", fg::execution_error);
  labels[1] = 2;
  fg::cpu_kernel<fg::ops::sparse_softmax_cross_entropy>::run<float>(k);
  CHECK(loss[0] == doctest::Approx(std::log(std::exp(-1.) + 1 + std::exp(1.))));
  CHECK(loss[1] == doctest::Approx(std::log(std::exp(-2.) + std::exp(-1.) + 1)));
}
