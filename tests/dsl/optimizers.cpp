// Optimizers, schedules and clippings, step by step beside PyTorch's and TensorFlow's.
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include "../../bench/support/inputs.hpp"
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

constexpr int steps = 100, batches = 4, rows = 8, in = 6, out = 2;

const fg::testing::golden_case& expected(const std::string& name) {
  static const auto cases = [] {
    auto all = fg::testing::read_goldens(fg::testing::test_file("golden/optimizers_torch.txt"));
    for (auto& c : fg::testing::read_goldens(fg::testing::test_file("golden/optimizers_tensorflow.txt")))
      all.push_back(c);
    return all;
  }();
  for (const auto& c : cases)
    if (c.name == name) return c;
  throw std::out_of_range(name);
}

std::vector<double> wide(const std::vector<float>& v) { return {v.begin(), v.end()}; }
std::span<const double> batch_of(const std::vector<double>& all, int step) {
  const std::size_t size = all.size() / batches;
  return std::span(all).subspan(static_cast<std::size_t>(step % batches) * size, size);
}

void check(double got, double wanted, double tolerance) { CHECK(got == doctest::Approx(wanted).epsilon(tolerance)); }
template <class Array>
void check_weights(const std::string& name, const Array& got, double tolerance) {
  const auto& wanted = expected(name).out[1].values;
  std::size_t k = 0;
  for (const double w : got) check(w, wanted[k++], tolerance);
}

// x w on y, one batch a step. train(loss) gives the operation that a step runs.
template <class Train>
void follow(const std::string& name, const Train& train, double tolerance = 1e-9) {
  INFO(name);
  fg::graph g;
  const auto x = g.placeholder<double, rows, in>("x");
  const auto y = g.placeholder<double, rows, out>("y");
  const auto w = g.variable<double, in, out>("w");
  const auto loss = reduce_mean(square(matmul(x, w) - y));
  const fg::operation step = train(g, loss);
  fg::dynamic_session s(g, {.threads = 1});
  s.set(w, wide(bench::numbers(in * out, 2, 0.5f)));
  const auto xs = wide(bench::numbers(batches * rows * in, 0, 1)),
             ys = wide(bench::numbers(batches * rows * out, 1, 2));
  for (int i = 0; i < steps; ++i) {
    const double got = s.run(loss, step, fg::feed(x, batch_of(xs, i)), fg::feed(y, batch_of(ys, i)));
    check(got, expected(name).out[0].values[static_cast<std::size_t>(i)], tolerance);
  }
  check_weights(name, s.get(w), tolerance);
}
template <class Optimizer>
void follow_optimizer(const std::string& name, const Optimizer& o, double tolerance = 1e-9) {
  follow(
      name, [&](fg::graph&, const auto& loss) { return o.minimize(loss); }, tolerance);
}

// Rows of a table on y, by their sparse gradient.
template <class Optimizer>
void follow_table(const std::string& name, const Optimizer& o, double tolerance = 1e-9) {
  INFO(name);
  fg::graph g;
  const auto indices = g.placeholder<std::int64_t, rows>("indices");
  const auto y = g.placeholder<double, rows, out>("y");
  const auto table = g.variable<double, 5, out>("table");
  const auto loss = reduce_mean(square(embedding_lookup(table, indices) - y));
  const auto train = o.minimize(loss);
  fg::dynamic_session s(g, {.threads = 1});
  s.set(table, wide(bench::numbers(5 * out, 3, 1)));
  const auto all = bench::integers(batches * rows, 4, 4);
  const auto ys = wide(bench::numbers(batches * rows * out, 1, 2));
  for (int i = 0; i < steps; ++i) {
    const auto now = std::span(all).subspan(static_cast<std::size_t>(i % batches * rows), rows);
    const double got = s.run(loss, train, fg::feed(indices, now), fg::feed(y, batch_of(ys, i)));
    check(got, expected(name).out[0].values[static_cast<std::size_t>(i)], tolerance);
  }
  check_weights(name, s.get(table), tolerance);
}

// Every row of a table is looked up in every step, some of them twice: sparse and dense updates are the same.
template <class Optimizer>
void check_sparse(const Optimizer& o) {
  INFO(Optimizer::name);
  const auto trained = [&]<bool Sparse>(std::bool_constant<Sparse>) {
    fg::graph g;
    const auto table = g.variable<double, 4, out>("table");
    const auto untouched = g.variable<double, 6, out>("untouched");
    const auto indices = g.placeholder<std::int64_t, 6>("indices");
    const auto read = [&](const auto& t) {
      if constexpr (Sparse)
        return embedding_lookup(t, indices);
      else
        return fg::gather<0>(t, indices);
    };
    const auto loss = reduce_sum(exp(read(table))) + reduce_sum(square(read(untouched) + 1));
    const auto train = o.minimize(loss);
    fg::dynamic_session s(g, {.threads = 1});
    s.set(table, wide(bench::numbers(4 * out, 5, 1)));
    s.set(untouched, wide(bench::numbers(6 * out, 6, 1)));
    for (int i = 0; i < 10; ++i) s.run(train, fg::feed(indices, std::vector<std::int64_t>{3, 1, 2, 0, 1, 3}));
    const auto last = s.get(untouched);
    if constexpr (Sparse)
      for (int k = 0; k < 2 * out; ++k)  // the last two rows
        CHECK(last(4 + k / out, k % out) == wide(bench::numbers(6 * out, 6, 1))[static_cast<std::size_t>(4 * out + k)]);
    return s.get(table);
  };
  const auto sparse = trained(std::true_type{}), dense = trained(std::false_type{});
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < out; ++c) check(sparse(r, c), dense(r, c), 1e-12);
}

}  // namespace

TEST_CASE("optimizers walk as PyTorch's do") {
  follow_optimizer("gradient_descent", fg::gradient_descent(0.1));
  follow_optimizer("momentum", fg::momentum(0.05));
  follow_optimizer("nesterov", fg::momentum(0.05, 0.9, true));
  follow_optimizer("adagrad", fg::adagrad(0.1));
  follow_optimizer("adadelta", fg::adadelta(1.0));
  follow_optimizer("rmsprop", fg::rmsprop(0.01));
  follow_optimizer("rmsprop_centered", fg::rmsprop(0.01, {.rho = 0.9, .momentum = 0.5, .centered = true}));
  follow_optimizer("adam", fg::adam(0.01));
  follow_optimizer("adam_parameters", fg::adam(0.05, {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3}));
  follow_optimizer("adamw", fg::adamw(0.01, 0.1));
}

TEST_CASE("ftrl and lion walk as TensorFlow's do") {
  // TensorFlow keeps learning rates in float32.
  follow_optimizer("ftrl", fg::ftrl(0.5), 1e-6);
  follow_optimizer("ftrl_regularised", fg::ftrl(0.5, {.l1 = 0.5, .l2 = 0.1}), 1e-6);
  follow_optimizer("lion", fg::lion(0.01), 1e-6);
  follow_optimizer("lion_decay", fg::lion(0.01, {.beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1}), 1e-6);
}

TEST_CASE("rates follow schedules and tensors") {
  // Schedules compute in float32.
  follow_optimizer("step_decay", fg::gradient_descent(fg::step_decay(0.1, 0.5, 30)), 1e-6);
  follow_optimizer("exponential_decay", fg::gradient_descent(fg::exponential_decay(0.1, 0.97, 1)), 1e-6);
  follow_optimizer("cosine_decay", fg::gradient_descent(fg::cosine_decay(0.1, 100, 0.01)), 1e-6);
  follow_optimizer("piecewise_constant", fg::gradient_descent(fg::piecewise_constant({20, 60}, {0.1, 0.05, 0.01})),
                   1e-6);
  follow_optimizer("warm_up", fg::gradient_descent(fg::warm_up(10, 0.1)), 1e-6);
  follow_optimizer("gradient_descent", fg::gradient_descent([](fg::tensor<float> done) { return done * 0 + 0.1; }),
                   1e-6);
  follow("gradient_descent",
         [](fg::graph& g, const auto& loss) { return fg::gradient_descent(g.constant<double>(0.1)).minimize(loss); });
}

TEST_CASE("gradients are changed on the way") {
  const fg::gradient_descent sgd(0.1);
  const auto changed = [&](const auto& change) {
    return [&sgd, change](fg::graph&, const auto& loss) {
      return sgd.apply_gradients(change(sgd.compute_gradients(loss)));
    };
  };
  follow("weight_decay", changed([](const auto& l) { return fg::add_weight_decay(l, 0.05); }));
  follow("clip_by_value", changed([](const auto& l) { return fg::clip_by_value(l, -0.1, 0.1); }));
  // PyTorch adds 1e-6 to the norm before it divides.
  follow("clip_by_norm", changed([](const auto& l) { return fg::clip_by_norm(l, 0.2); }), 1e-5);
  follow("clip_by_norm", changed([](const auto& l) { return fg::clip_by_global_norm(l, 0.2); }), 1e-5);
}

TEST_CASE("gradients of several steps count as one") {
  fg::graph g;
  const auto x = g.placeholder<double, rows, in>("x");
  const auto y = g.placeholder<double, rows, out>("y");
  const auto w = g.variable<double, in, out>("w");
  const auto loss = reduce_mean(square(matmul(x, w) - y));
  const fg::gradient_descent sgd(0.1);
  const fg::gradient_accumulator sums(sgd.compute_gradients(loss));
  const auto add = sums.add(), apply = sums.apply(sgd);
  fg::dynamic_session s(g, {.threads = 1});
  s.set(w, wide(bench::numbers(in * out, 2, 0.5f)));
  const auto xs = wide(bench::numbers(batches * rows * in, 0, 1)),
             ys = wide(bench::numbers(batches * rows * out, 1, 2));
  for (int i = 0; i < steps; ++i) {
    double last = 0;
    for (int k = 0; k < batches; ++k)
      last = s.run(loss, add, fg::feed(x, batch_of(xs, k)), fg::feed(y, batch_of(ys, k)));
    s.run(apply);
    check(last, expected("accumulated").out[0].values[static_cast<std::size_t>(i)], 1e-9);
  }
  check_weights("accumulated", s.get(w), 1e-9);
}

TEST_CASE("tables walk as PyTorch's do, row by row") {
  follow_table("sparse_gradient_descent", fg::gradient_descent(0.5));
  follow_table("sparse_adagrad", fg::adagrad(0.1, 0, 1e-10));
  // Where PyTorch's SparseAdam adds epsilon, the bias is not corrected yet.
  follow_table("sparse_adam", fg::adam(0.01), 1e-5);
}

TEST_CASE("every rule moves the rows of a table as it moves a whole variable") {
  check_sparse(fg::gradient_descent(0.1));
  check_sparse(fg::momentum(0.1, 0.9, true));
  check_sparse(fg::adagrad(0.1));
  check_sparse(fg::adadelta(1.0));
  check_sparse(fg::rmsprop(0.01, {.momentum = 0.5, .centered = true}));
  check_sparse(fg::adam(0.01));
  check_sparse(fg::adamw(0.01, 0.1));
  check_sparse(fg::ftrl(0.5, {.l1 = 0.1}));
  check_sparse(fg::lion(0.01, {.weight_decay = 0.1}));
}

TEST_CASE("a moving average is that of the values so far, weighted by age") {
  fg::graph g;
  const auto w = g.variable<double, 2>("w");
  const auto train = assign_add(w, g.constant<double, 2>({1.0, 2.0}));
  fg::moving_average average(w, 0.75);
  const auto update = [&] {
    const auto after = g.control_dependencies(train);
    return average.update();
  }();
  const auto value = average.value();
  fg::dynamic_session s(g, {.threads = 1});
  double sum = 0, weight = 0;
  for (int i = 1; i <= 5; ++i) {
    s.run(update);
    sum = sum * 0.75 + i * 0.25;
    weight = weight * 0.75 + 0.25;
    const auto got = s.run(value);
    check(got(0), sum / weight, 1e-12);
    check(got(1), 2 * sum / weight, 1e-12);
  }
}

TEST_CASE("state has names of its own, and counts steps") {
  fg::graph g;
  const auto w = g.variable<float, 3>("w");
  const auto train = fg::adam(0.1).minimize(reduce_sum(square(w)));
  for (const char* name : {"w/mean", "w/squares", "adam/steps"}) CHECK(g.view().find(name) >= 0);
  fg::dynamic_session s(g, {.threads = 1});
  for (int i = 0; i < 3; ++i) s.run(train);
  CHECK(s.run(s.find<std::int64_t>("adam/steps")) == 3);
}

TEST_CASE("parameters that make no sense are refused when the graph is built") {
  fg::graph g;
  const auto loss = reduce_sum(square(g.variable<float, 3>("w")));
  CHECK_THROWS_AS(std::ignore = fg::adam(-1).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::adam(0.1, {.beta1 = 1}).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::adamw(0.1, -1).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::rmsprop(0.1, {.rho = 2}).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::ftrl(0.1, {.l1 = -1}).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::lion(0.1, {.beta2 = -0.1}).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::adadelta(1.0, 0.9, 0).minimize(loss), fg::argument_error);
}

namespace {

// One mistake in a schedule, in a graph that the compiler builds: what it records there.
template <class Schedule>
constexpr fg::problem recorded(const Schedule& rate) {
  fg::graph g;
  const auto loss = reduce_sum(square(g.variable<float, 3>("w")));
  std::ignore = fg::gradient_descent(rate).minimize(loss);
  return g.data().first_fault.why;
}

}  // namespace

TEST_CASE("schedules of numbers that make no sense are refused when the graph is built") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto refused = [](const auto& rate) {
    fg::graph g;
    const auto loss = reduce_sum(square(g.variable<float, 3>("w")));
    CHECK_THROWS_AS(std::ignore = fg::gradient_descent(rate).minimize(loss), fg::argument_error);
  };
  const auto taken = [](const auto& rate) {
    fg::graph g;
    const auto loss = reduce_sum(square(g.variable<float, 3>("w")));
    CHECK_NOTHROW(std::ignore = fg::gradient_descent(rate).minimize(loss));
  };
  for (const double turns : {0.0, -5.0, nan, inf}) {
    CAPTURE(turns);
    refused(fg::cosine_decay(0.1, turns));
    refused(fg::exponential_decay(0.1, 0.5, turns));
    refused(fg::step_decay(0.1, 0.5, turns));
    refused(fg::piecewise_constant({turns}, {0.1, 0.01}));
  }
  for (const double rate : {0.0, -0.1, nan, inf}) {
    CAPTURE(rate);
    refused(fg::cosine_decay(rate, 10));
    refused(fg::exponential_decay(rate, 0.5, 10));
    refused(fg::exponential_decay(0.1, rate, 10));
    refused(fg::step_decay(0.1, rate, 10));
    refused(fg::warm_up(10, rate));
    refused(fg::warm_up(10, fg::cosine_decay(rate, 10)));
  }
  for (const double low : {-0.1, nan, inf}) {
    CAPTURE(low);
    refused(fg::cosine_decay(0.1, 10, low));
    refused(fg::piecewise_constant({10}, {0.1, low}));
    refused(fg::warm_up(low, 0.1));
  }
  refused(fg::exponential_decay(-0.1, 2, 0));
  refused(fg::piecewise_constant({20, 20}, {0.1, 0.05, 0.01}));
  refused(fg::piecewise_constant({60, 20}, {0.1, 0.05, 0.01}));
  taken(fg::piecewise_constant({20, 60}, {0, 0.1, 0}));  // two rests
  taken(fg::exponential_decay(1e-6, 1.1, 1));            // a search for a rate grows
  taken(fg::warm_up(0, 0.1));

  static_assert(recorded(fg::cosine_decay(0.1, 10)) == fg::problem::none);
  static_assert(recorded(fg::cosine_decay(0.1, 0)) == fg::problem::hyper_parameter);
  static_assert(recorded(fg::warm_up(5, fg::step_decay(-1, 0.5, 10))) == fg::problem::learning_rate);
}

TEST_CASE("gradients are not clipped to what is no norm, nor between bounds that are none") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  fg::graph g;
  const auto w = g.variable<float, 3>("w");
  const auto gradients = fg::gradient_descent(0.1).compute_gradients(reduce_sum(square(w)));
  for (const double most : {0.0, -1.0, nan, inf}) {
    CAPTURE(most);
    CHECK_THROWS_AS(fg::clip_by_norm(gradients, most), fg::argument_error);
    CHECK_THROWS_AS(fg::clip_by_global_norm(gradients, most), fg::argument_error);
  }
  for (const double decay : {-5.0, nan, inf}) {
    CAPTURE(decay);
    CHECK_THROWS_AS(fg::add_weight_decay(gradients, decay), fg::argument_error);
  }
  CHECK_THROWS_AS(fg::clip_by_value(gradients, 1, -1), fg::argument_error);
  CHECK_THROWS_AS(fg::clip_by_value(gradients, nan, 1), fg::argument_error);
  CHECK_THROWS_AS(clip(w, 1, -1), fg::argument_error);
  CHECK_THROWS_AS(clip(w, 0.0, nan), fg::argument_error);
  CHECK_NOTHROW(fg::clip_by_value(gradients, -inf, inf));
  CHECK_NOTHROW(fg::add_weight_decay(gradients, 0));
  CHECK_NOTHROW(clip(w, 1, 1));
}
