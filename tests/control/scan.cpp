// Loops over rows, arrays that loops fill, and derivatives through both.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim time_steps("time_steps");

// h' = tanh(w h + x), all of them collected; the loss is the sum of their squares.
template <auto Options>
constexpr auto recurrent = [](fg::graph& g) {
  auto xs = g.placeholder<double, time_steps>("xs");
  auto w = g.placeholder<double>("w");
  auto zero = g.constant<double>(0);
  auto [last, all] = fg::scan(
      Options,
      [&](auto h, auto x) {
        auto next = fg::tanh(w * h + x);
        return std::tuple(next, next);
      },
      zero, xs);
  g.name("last", last);
  g.name("all", all);
  auto loss = fg::reduce_sum(all * all);
  g.name("loss", loss);
  auto [dw, dx] = fg::gradients(loss, w, xs);
  g.name("dw", dw);
  g.name("dx", dx);
  g.name("ddw", fg::gradients(dw, w));
};

constexpr auto plain = fg::define(recurrent<fg::loop_options{}>);
constexpr auto sparing = fg::define(recurrent<fg::checkpoint_every{2}>);

double loss_of(const double* x, int n, double w) {
  double h = 0, sum = 0;
  for (int i = 0; i < n; ++i) {
    h = std::tanh(w * h + x[i]);
    sum += h * h;
  }
  return sum;
}

template <class Session>
void check_recurrent() {
  Session s;
  const double w = 0.7, e = 1e-5, xs[] = {0.3, -0.2, 0.9, 0.1, -0.7};
  for (const int n : {1, 3, 5}) {
    CAPTURE(n);
    const std::vector<double> x(xs, xs + n);
    const auto feeds = std::tuple(fg::feed<"xs">(x), fg::feed<"w">(w));
    const auto [loss, dw, ddw] = s.template run<"loss", "dw", "ddw">(std::get<0>(feeds), std::get<1>(feeds));
    CHECK(loss == doctest::Approx(loss_of(xs, n, w)));
    const double up = loss_of(xs, n, w + e), down = loss_of(xs, n, w - e);
    CHECK(dw == doctest::Approx((up - down) / (2 * e)).epsilon(1e-6));
    CHECK(ddw == doctest::Approx((up - 2 * loss + down) / (e * e)).epsilon(1e-3));
    const auto dx = s.template run<"dx">(std::get<0>(feeds), std::get<1>(feeds));
    REQUIRE(dx.dim(0) == n);
    for (int i = 0; i < n; ++i) {
      std::vector<double> more = x, less = x;
      more[static_cast<std::size_t>(i)] += e;
      less[static_cast<std::size_t>(i)] -= e;
      CHECK(dx(i) ==
            doctest::Approx((loss_of(more.data(), n, w) - loss_of(less.data(), n, w)) / (2 * e)).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("scan over a named extent: states, arrays, derivatives of first and second order") {
  check_recurrent<fg::session<plain>>();
}

TEST_CASE("the same from what every second turn kept") { check_recurrent<fg::session<sparing>>(); }

TEST_CASE("a backward turn drops what its forward turn dropped") {
  fg::graph g;
  const auto x = g.placeholder<float, 64>("x");
  const auto rows = g.constant<float, 5, 64>(1);
  const auto zero = g.constant<float>(0);
  const auto [unused, kept] =
      fg::scan([&](auto h, auto row) { return std::tuple(h, fg::dropout(x * row, 0.5)); }, zero, rows);
  const auto dx = fg::gradients(fg::reduce_sum(kept), x);
  fg::dynamic_session s(g);
  const std::vector<float> ones(64, 1.f);
  const auto [values, derivative] = s.run(kept, dx, fg::feed(x, ones));
  bool turns_differ = false;
  for (int i = 0; i < 64; ++i) {
    float sum = 0;
    for (int t = 0; t < 5; ++t) sum += values(t, i);
    CHECK(derivative(i) == sum);
    turns_differ = turns_differ || values(0, i) != values(1, i);
  }
  CHECK(turns_differ);
}

TEST_CASE("a loop with effects or random numbers keeps everything: nothing runs twice") {
  fg::graph g;
  const auto x = g.placeholder<float, 64>("x");
  const auto rows = g.constant<float, 5, 64>(1);
  const auto count = g.variable<float>("count");
  const auto [unused, kept] = fg::scan(
      fg::checkpoint_every{2},
      [&](auto h, auto row) {
        fg::assign_add(count, 1.f);
        return std::tuple(h, fg::dropout(x * row, 0.5));
      },
      g.constant<float>(0), rows);
  const auto dx = fg::gradients(fg::reduce_sum(kept * kept), x);
  fg::dynamic_session s(g);
  const std::vector<float> ones(64, 1.f);
  const auto [values, derivative] = s.run(kept, dx, fg::feed(x, ones));
  CHECK(s.get(count) == 5);
  for (int i = 0; i < 64; ++i) {
    float sum = 0;
    for (int t = 0; t < 5; ++t) sum += 2 * values(t, i) * values(t, i);
    CHECK(derivative(i) == sum);
  }
}

TEST_CASE("derivatives taken inside a body: Newton's method on a function of the user's") {
  fg::graph g;
  const auto a = g.placeholder<double>("a");
  const auto root = fg::repeat(
      20,
      [&](auto x) {
        const auto f = x * x * x - a;
        return x - f / fg::gradients(f, x);
      },
      g.constant<double>(1));
  const auto slope = fg::gradients(root, a);
  fg::dynamic_session s(g);
  const auto [r, d] = s.run(root, slope, fg::feed(a, 5.));
  CHECK(r == doctest::Approx(std::cbrt(5.)));
  CHECK(d == doctest::Approx(1 / (3 * std::cbrt(25.))));
}

TEST_CASE("fold and map") {
  fg::graph g;
  const auto xs = g.placeholder<float, time_steps, 2>("xs");
  const auto ys = g.placeholder<float, time_steps>("ys");
  const auto w = g.variable<float, 2>("w", fg::init::constant(2));
  const auto sum = fg::fold([](auto s, auto x, auto y) { return s + x * y; }, g.constant<float, 2>(0), xs, ys);
  const auto all = fg::map([&](auto x) { return fg::reduce_sum(x * w); }, xs);
  const auto dw = fg::gradients(fg::reduce_sum(all * ys), w);
  fg::dynamic_session s(g);
  const float x[3][2] = {{0, 1}, {2, 3}, {4, 5}};
  const std::vector<float> y{1, 10, 100};
  CHECK(s.run(sum, fg::feed(xs, x), fg::feed(ys, y))(1) == 531);
  CHECK(s.run(all, fg::feed(xs, x))(2) == 18);
  CHECK(s.run(dw, fg::feed(xs, x), fg::feed(ys, y))(0) == 420);
}

TEST_CASE("rows in several loops at once give what one loop gives") {
  fg::graph g;
  const auto xs = g.placeholder<double, 7, 3>("xs");
  const auto w = g.variable<double, 3>("w", fg::init::constant(0.3));
  const auto f = [&](auto x) { return fg::tanh(x * w); };
  const auto one = fg::map(f, xs), three = fg::map(fg::parallel_iterations<3>{}, f, xs);
  const auto d1 = fg::gradients(fg::reduce_sum(one * one), w), d3 = fg::gradients(fg::reduce_sum(three * three), w);
  fg::session_options two;
  two.threads = 2;
  two.inter_op = fg::inter_op_policy::parallel;
  fg::dynamic_session s(g, two);
  std::vector<double> x(21);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i) / 10 - 1;
  const auto [a, b, da, db] = s.run(one, three, d1, d3, fg::feed(xs, x));
  CHECK(a == b);
  for (int i = 0; i < 3; ++i) CHECK(da(i) == doctest::Approx(db(i)));
}

namespace {

constexpr int turns = 5, rows = 8, units = 64;

constexpr auto layer = fg::define([](fg::graph& g) {
  auto xs = g.placeholder<float, turns, rows, units>("xs");
  auto w = g.variable<float, units, units>("w", fg::init::glorot_uniform());
  auto zero = g.constant<float, rows, units>(0);
  auto [last, all] = fg::scan(
      [&](auto h, auto x) {
        auto next = fg::tanh(matmul(h, w) + x);
        return std::tuple(next, next);
      },
      zero, xs);
  auto loss = g.name("loss", fg::reduce_sum(all * all));
  g.name("train", fg::gradient_descent(0.01).minimize(loss));
});

double loss_of(const std::vector<float>& x, const std::vector<double>& w) {
  std::vector<double> h(rows * units), product(rows * units);
  double sum = 0;
  for (std::size_t t = 0; t < turns; ++t) {
    std::fill(product.begin(), product.end(), 0.0);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < units; ++k)
        for (std::size_t j = 0; j < units; ++j) product[i * units + j] += h[i * units + k] * w[k * units + j];
    for (std::size_t i = 0; i < h.size(); ++i) {
      h[i] = std::tanh(product[i] + static_cast<double>(x[t * h.size() + i]));
      sum += h[i] * h[i];
    }
  }
  return sum;
}

void check_layer(const fg::session_options& options) {
  fg::session<layer> s(options);
  std::vector<float> x(turns * rows * units);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01f * static_cast<float>(i * 37 % 101) - 0.5f;
  const auto weights = [&] {
    const auto w = s.get<"w">();
    return std::vector<double>(w.begin(), w.end());
  };
  for (int step = 0; step < 4; ++step) {
    if (step == 2) s.set<"w">(std::vector<float>(units * units, 0.01f));
    const std::vector<double> w = weights();
    CHECK(static_cast<double>(s.run<"loss", "train">(fg::feed<"xs">(x))) == doctest::Approx(loss_of(x, w)));
    // Along the step that was taken, the loss changes as the derivatives say: by the square of their length.
    const std::vector<double> next = weights();
    std::vector<double> up = w, down = w;
    double square = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double d = (w[i] - next[i]) / 0.01;
      square += d * d;
      up[i] += 1e-5 * d;
      down[i] -= 1e-5 * d;
    }
    CHECK((loss_of(x, up) - loss_of(x, down)) / 2e-5 == doctest::Approx(square).epsilon(0.001));
  }
  for (const fg::step_profile& step : s.profile())
    for (const fg::instruction_profile& i : step.instructions)
      if (i.op.find("tanh") != std::string::npos) CHECK(i.calls == turns);
}

}  // namespace

namespace {

std::vector<const double*> places;
void twice(fg::array_ref<const double> x, fg::array_ref<double> y) {
  places.push_back(y.data);
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
}

}  // namespace

TEST_CASE("rows are computed in their places, whatever the extents were in the step before") {
  fg::graph g;
  const auto x = g.placeholder<double, time_steps, 3>("x");
  const auto y = fg::map([](auto row) { return fg::host_call<"twice", &twice, fg::tensor<double, 3>>(row); }, x);
  fg::dynamic_session s(g);
  for (const int n : {4, 7, 5}) {
    CAPTURE(n);
    fg::ndarray<double, time_steps, 3> fed(time_steps(n));
    for (int i = 0; i < n; ++i) fed(i, 1) = i;
    places.clear();
    const auto result = s.run(y, fg::feed(x, fed));
    REQUIRE(places.size() == static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      CHECK(result(i, 1) == 2 * i);
      CHECK(places[static_cast<std::size_t>(i)] == places[0] + 3 * i);
    }
  }
}

TEST_CASE("weights that a loop multiplies with are those of the moment, step after step") {
  check_layer({.threads = 1});
  check_layer({.threads = 2, .serial_below = 0, .profile = 1});
  check_layer({.threads = 2, .kernels = fg::kernels::eigen, .updates = fg::update_policy::overlapping});
  check_layer({.threads = 1, .updates = fg::update_policy::lock_free});
  check_layer({.threads = 1, .check_numerics = true});
}
