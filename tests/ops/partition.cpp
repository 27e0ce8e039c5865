// Rows that go different ways: result types, gradients as graphs, values against the referees.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include "support/op_rows.hpp"

namespace fg = flowgraph;
using fg::tensor;

namespace {

constexpr fg::dim batch{"batch"};
using i64 = std::int64_t;

template <class T, class X>
constexpr bool is(const X&) {
  return std::is_same_v<X, T>;
}

constexpr auto types = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  auto ids = g.placeholder<std::int32_t, batch>("ids");
  auto table = g.variable<float, 10, 4>("table");
  const auto [even, odd] = dynamic_partition<2>(x, ids);
  static_assert(is<tensor<float, batch, 3>>(decltype(even.rows){}) &&
                is<tensor<i64, batch>>(decltype(odd.positions){}));
  static_assert(is<tensor<i64>>(decltype(even.count()){}));
  const auto parts = dynamic_partition<5>(ids, ids);
  static_assert(parts.size() == 5);
  const auto rows = embedding_lookup(table, parts[0]);
  static_assert(is<tensor<float, batch, 4>>(decltype(rows.rows){}));
  static_assert(is<tensor<float, batch, 3>>(decltype(dynamic_stitch(even, odd)){}));
  static_assert(is<tensor<float, 7, 3>>(decltype(fg::dynamic_stitch_rows<7>(even)){}));
  static_assert(is<tensor<float, 5, 3>>(decltype(fg::segment_sum<5>(x, ids)){}));
  static_assert(is<tensor<float, batch, 4>>(decltype(fg::segment_sum<batch>(rows, parts[0])){}));
  g.name("y", dynamic_stitch(even, odd.with(relu(odd.rows))));
  g.name("s", fg::segment_sum<2>(reduce_sum<1>(x), ids));
});
static_assert(types.view().find("y") >= 0);

// The gradient of a table stays sparse, also with one from a plain lookup.
constexpr bool sparse() {
  fg::graph g;
  auto ids = g.placeholder<i64, batch>("ids");
  auto table = g.variable<float, 10, 4>("table");
  const auto rows = embedding_lookup(table, dynamic_partition<2>(ids, ids % 2)[1]);
  const auto by = [&](auto loss) { return fg::ref(gradients(loss, table)); };
  const fg::ref one = by(reduce_sum(square(rows.rows)));
  const fg::ref two = by(reduce_sum(square(rows.rows)) + reduce_sum(square(embedding_lookup(table, ids))));
  const auto is_some = [](fg::ref r) { return r.is(fg::op_def_of<fg::ops::indexed_slices>) && !fg::ops::names_all(r); };
  return g.data().first_fault.why == fg::problem::none && is_some(one) && is_some(two);
}
static_assert(sparse());

const fg::testing::op_rows rows("array");

template <int Parts>
constexpr auto taken_apart = [](auto x, auto ids) {
  return std::apply([](const auto&... p) { return std::tuple_cat(std::tuple(p.rows, p.positions)...); },
                    fg::dynamic_partition<Parts>(x, ids));
};
template <auto N>
constexpr auto stitched = [](auto p, auto x, auto q, auto y) {
  return fg::dynamic_stitch_rows<N>(fg::part{x, p}, fg::part{y, q});
};
template <auto N>
constexpr auto summed = [](auto ids, auto x) { return fg::segment_sum<N>(x, ids); };

}  // namespace

TEST_CASE("dynamic_partition, dynamic_stitch and segment_sum: values and gradients") {
  rows.row<tensor<float, 5, 2>, tensor<i64, 5>>("dynamic_partition_rows", taken_apart<2>);
  rows.row<tensor<float, 4>, tensor<std::int32_t, 4>>("dynamic_partition_vector", taken_apart<3>);
  rows.row<tensor<float, 3, 2>, tensor<i64, 3>>("dynamic_partition_one", taken_apart<1>);
  rows.row<tensor<float, 3, 2, 2>, tensor<i64, 3>>("dynamic_partition_cube", taken_apart<2>);
  rows.row<tensor<i64, 2>, tensor<float, 2, 2>, tensor<i64, 3>, tensor<float, 3, 2>>("dynamic_stitch_all", stitched<5>);
  rows.row<tensor<i64, 2>, tensor<float, 2>, tensor<i64, 3>, tensor<float, 3>>("dynamic_stitch_some", stitched<4>);
  rows.row<tensor<i64, 3>, tensor<float, 3, 1, 2>>("dynamic_stitch_one", [](auto p, auto x) {
    return fg::dynamic_stitch_rows<3>(fg::part{x, p});
  });
  rows.row<tensor<i64, 5>, tensor<float, 5, 2>>("segment_sum_sorted", summed<3>);
  rows.row<tensor<std::int32_t, 4>, tensor<float, 4>>("segment_sum_unsorted", summed<4>);
  rows.row<tensor<i64, 3>, tensor<float, 3, 3>>("segment_sum_some", summed<2>);
  rows.row<tensor<i64, 2, 2>, tensor<float, 2, 2, 2>>("segment_sum_matrix", summed<3>);
  const fg::testing::op_rows other("types");
  other.row<tensor<float, 0, 3>, tensor<i64, 0>>("empty_dynamic_partition", taken_apart<1>);
  other.row<tensor<i64, 0>, tensor<float, 0, 3>>("empty_segment_sum", summed<2>);
}

TEST_CASE("second derivatives of rows that go different ways") {
  fg::graph g;
  auto x = g.placeholder<double, 4, 2>("x");
  auto ids = g.constant<i64, 4>({1, 0, 1, 1});
  const auto [a, b] = dynamic_partition<2>(x * x, ids);
  const auto loss =
      reduce_sum(square(dynamic_stitch(a, b.with(b.rows * 3)))) + reduce_sum(square(fg::segment_sum<2>(x, ids)));
  const auto by = gradients(loss, x);
  const auto again = gradients(reduce_sum(square(by)), x);
  fg::dynamic_session s(g);
  const fg::ndarray<double, 4, 2> at{{0.5, -0.25}, {1, 0.75}, {-0.5, 0.25}, {0.125, 2}};
  constexpr double step = 1e-5;
  const auto square_of_gradient = [&](const fg::ndarray<double, 4, 2>& where) {
    double sum = 0;
    for (const double d : s.run(by, fg::feed(x, where))) sum += d * d;
    return sum;
  };
  const auto second = s.run(again, fg::feed(x, at));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      auto up = at, down = at;
      up(i, j) += step, down(i, j) -= step;
      const double expected = (square_of_gradient(up) - square_of_gradient(down)) / (2 * step);
      CHECK(second(i, j) == doctest::Approx(expected).epsilon(1e-5));
    }
}

TEST_CASE("numbers that no part, position or segment has stop the step") {
  fg::graph g;
  auto x = g.placeholder<float, batch>("x");
  auto ids = g.placeholder<i64, batch>("ids");
  const auto part = fg::part{x, ids};
  fg::dynamic_session s(g);
  const std::vector<float> values{1, 2, 3};
  const auto refuses = [&](auto y, std::vector<i64> numbers) {
    CHECK_THROWS_AS(s.run(y, fg::feed(x, values), fg::feed(ids, numbers)), fg::execution_error);
  };
  const auto first = dynamic_partition<2>(x, ids)[0].rows;
  refuses(first, {0, 2, 1});
  refuses(first, {0, -1, 1});
  refuses(fg::segment_sum<2>(x, ids), {0, 2, 1});
  refuses(fg::segment_sum<2>(x, ids), {0, -2, 1});
  refuses(fg::dynamic_stitch(part), {0, 3, 1});
  refuses(fg::dynamic_stitch(part), {0, 1, 1});  // there is room for one row
  CHECK(s.run(fg::dynamic_stitch(part), fg::feed(x, values), fg::feed(ids, std::vector<i64>{2, -1, 0}))(2) == 1);
}

// What was not looked up keeps its value and its state, though it moved before: also where a part is empty.
namespace {

template <class Optimizer>
void check_unmoved(const Optimizer& optimizer) {
  fg::graph g;
  auto ids = g.placeholder<i64, batch>("ids");
  auto even = g.variable<float, 4, 2>("even", fg::init::ones());
  auto odd = g.variable<float, 4, 2>("odd", fg::init::ones());
  const auto [a, b] = dynamic_partition<2>(floordiv(ids, 2), ids % 2);
  const auto h = dynamic_stitch(embedding_lookup(even, a), embedding_lookup(odd, b));
  const auto train = optimizer.minimize(reduce_sum(square(h)));
  // The same in one table: rows of even numbers first.
  auto whole = g.variable<float, 8, 2>("whole", fg::init::ones());
  const auto same = embedding_lookup(whole, floordiv(ids, 2) + 4 * (ids % 2));
  const auto train_whole = optimizer.minimize(reduce_sum(square(same)));
  fg::dynamic_session s(g);
  for (const std::vector<i64>& step : {std::vector<i64>{0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 6}, {3, 3, 0}, {5}, {}}) {
    const auto before_even = s.get(even), before_odd = s.get(odd);
    s.run(train, train_whole, fg::feed(ids, step));
    const auto after_even = s.get(even), after_odd = s.get(odd);
    const auto expected = s.get(whole);
    for (int row = 0; row < 4; ++row)
      for (int k = 0; k < 2; ++k) {
        const auto has = [&](i64 id) { return std::find(step.begin(), step.end(), id) != step.end(); };
        CHECK((before_even(row, k) != after_even(row, k)) == has(2 * row));
        CHECK((before_odd(row, k) != after_odd(row, k)) == has(2 * row + 1));
        CHECK(after_even(row, k) == doctest::Approx(expected(row, k)));
        CHECK(after_odd(row, k) == doctest::Approx(expected(row + 4, k)));
      }
  }
}

}  // namespace

TEST_CASE("a sharded embedding moves the rows that were looked up, and no others") {
  check_unmoved(fg::gradient_descent(0.125));
  check_unmoved(fg::momentum(0.125));
  check_unmoved(fg::adam(0.125));
  check_unmoved(fg::rmsprop(0.125, {.momentum = 0.5}));
}

// A row that is looked up twice, and places without one: a gradient of 0 there, which some rules divide by 0.
TEST_CASE("rules whose epsilon is 0 move the rows that were looked up, and no others") {
  const auto check = [](const auto& optimizer, auto zero) {
    using T = decltype(zero);
    fg::graph g;
    auto ids = g.placeholder<i64, batch>("ids");
    auto table = g.variable<T, 4, 2>("table", fg::init::ones());
    const auto found = embedding_lookup(table, dynamic_partition<2>(ids, ids % 2)[1]).rows;
    const auto train = optimizer.minimize(reduce_sum(found));
    fg::dynamic_session s(g);
    s.run(train, fg::feed(ids, std::vector<i64>{3, 3, 2, 1}));
    const auto after = s.get(table);
    for (int row = 0; row < 4; ++row)
      for (int k = 0; k < 2; ++k) {
        const auto value = static_cast<float>(after(row, k));
        CHECK(std::isfinite(value));
        CHECK((value != 1.0f) == (row % 2 == 1));
      }
  };
  check(fg::adagrad(0.125, 0, 0), 0.0f);
  check(fg::adam(0.125, {.epsilon = 0}), 0.0f);
  check(fg::rmsprop(0.125, {.epsilon = 0}), 0.0f);
  check(fg::adam(0.125), fg::half{});
}

TEST_CASE("sparse gradients of parts are clipped, decayed and accumulated as those of one table") {
  fg::graph g;
  auto ids = g.placeholder<i64, batch>("ids");
  auto table = g.variable<float, 4, 2>("table", fg::init::ones());
  auto same = g.variable<float, 4, 2>("same", fg::init::ones());
  const auto part = dynamic_partition<2>(ids, ids % 2)[1];
  const auto loss = reduce_sum(square(embedding_lookup(table, part).rows));
  const auto expected = reduce_sum(square(embedding_lookup(same, ids)) * expand_dims<1>(cast<float>(ids % 2)));
  const auto sgd = fg::gradient_descent(0.25);
  const auto change = [&](auto l) {
    return fg::clip_by_value(fg::clip_by_global_norm(fg::add_weight_decay(sgd.compute_gradients(l), 0.1), 2), -0.75,
                             0.75);
  };
  const fg::gradient_accumulator sums(change(loss)), sums_expected(change(expected));
  auto add = group(sums.add(), sums_expected.add());
  auto apply = group(sums.apply(sgd), sums_expected.apply(sgd));
  fg::dynamic_session s(g);
  for (const std::vector<i64>& step : {std::vector<i64>{1, 3, 1}, {3, 3}}) s.run(add, fg::feed(ids, step));
  s.run(apply);
  CHECK(s.get(table)(0, 0) == 1);
  for (int row = 0; row < 4; ++row) CHECK(s.get(table)(row, 1) == doctest::Approx(s.get(same)(row, 1)));
}
