// Reductions: result types, and gradients as graphs.
#include <doctest/doctest.h>

#include <flowgraph/functions/reduction.hpp>
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
  const auto n = g.placeholder<std::int64_t, 2, 3>("n");
  const auto b = g.placeholder<bool, batch, 3>("b");
  static_assert(same<decltype(reduce_sum(x)), fg::tensor<float>>);
  static_assert(same<decltype(fg::reduce_sum<1>(x)), fg::tensor<float, batch, 4>>);
  static_assert(same<decltype(fg::reduce_mean<0, -1>(x)), fg::tensor<float, time_steps>>);
  static_assert(same<decltype(fg::reduce_mean<0, -1>(x, fg::keepdims)), fg::tensor<float, 1, time_steps, 1>>);
  static_assert(same<decltype(reduce_max(x, fg::keepdims)), fg::tensor<float, 1, 1, 1>>);
  static_assert(same<decltype(fg::reduce_min<-3>(x)), fg::tensor<float, time_steps, 4>>);
  static_assert(same<decltype(fg::reduce_prod<1>(n)), fg::tensor<std::int64_t, 2>>);
  static_assert(same<decltype(fg::reduce_any<0>(b)), fg::tensor<bool, 3>>);
  static_assert(same<decltype(reduce_all(b)), fg::tensor<bool>>);
  static_assert(same<decltype(fg::logsumexp<2>(x)), fg::tensor<float, batch, time_steps>>);
  static_assert(same<decltype(fg::norm<2>(x, fg::norm_kind::l1)), fg::tensor<float, batch, time_steps>>);
  static_assert(same<decltype(fg::norm<2>(x, fg::keepdims)), fg::tensor<float, batch, time_steps, 1>>);
  static_assert(
      same<decltype(fg::norm<2>(x, fg::norm_kind::max, fg::keepdims)), fg::tensor<float, batch, time_steps, 1>>);
  return true;
}
static_assert(types());

// A mean divides by a number where the extents are numbers, and counts when it runs where one is named.
constexpr bool counts_of_means() {
  fg::graph g;
  const auto x = g.placeholder<float, batch, 3, 4>("x");
  const fg::ref fixed = fg::ref(fg::reduce_mean<1, 2>(x)).input(1), named = fg::ref(fg::reduce_mean<0, 1>(x)).input(1);
  return fg::ops::is_constant(fixed, 12) && named.is(fg::op_def_of<fg::ops::size>) &&
         named.attrs<fg::ops::size::attrs>().axes == 0b011 && named.rank() == 0;
}
static_assert(counts_of_means());

template <class F>
constexpr bool differentiable_twice(const F& reduction) {
  fg::graph g;
  const auto x = g.placeholder<float, batch, 4>("x");
  const auto dx = gradients(reduce_sum(reduction(x)), x);
  const auto ddx = gradients(reduce_sum(square(dx)), x);
  static_assert(same<decltype(ddx), const fg::tensor<float, batch, 4>>);
  return g.data().first_fault.why == fg::problem::none && fg::ref(dx).shape() == fg::ref(x).shape() &&
         fg::ref(ddx).shape() == fg::ref(x).shape();
}
static_assert(differentiable_twice([](auto x) { return fg::reduce_sum<0>(x); }));
static_assert(differentiable_twice([](auto x) { return fg::reduce_mean<0>(x); }));
static_assert(differentiable_twice([](auto x) { return fg::reduce_max<0>(x); }));
static_assert(differentiable_twice([](auto x) { return fg::reduce_min<1>(x, fg::keepdims); }));
static_assert(differentiable_twice([](auto x) { return fg::reduce_prod<1>(x); }));
static_assert(differentiable_twice([](auto x) { return fg::logsumexp<1>(x); }));
static_assert(differentiable_twice([](auto x) { return fg::norm<1>(x); }));

// The number of elements does not depend on their values.
constexpr bool size_carries_no_gradient() {
  fg::graph g;
  const auto x = g.placeholder<float, batch>("x");
  const auto count = fg::detail::count_tensor<1>(fg::caller(), x);
  return fg::ops::is_constant(fg::ref(gradients(count, x)), 0);
}
static_assert(size_carries_no_gradient());

// Over axes of extent 1 nothing is computed.
constexpr bool trivial_reductions_vanish() {
  fg::graph g;
  const auto x = g.placeholder<float, batch, 1>("x");
  fg::rewriter r(g.data(), fg::reduce_max<1>(x, fg::keepdims).id), s(g.data(), fg::reduce_max<1>(x).id);
  return fg::ops::reduce_max::simplify(r) == x.id && fg::ops::reduce_max::simplify(s) == fg::rewriter::keep;
}
static_assert(trivial_reductions_vanish());

}  // namespace
