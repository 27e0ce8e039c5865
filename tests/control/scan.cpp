// Loops over rows, arrays that loops fill, and derivatives through both.
#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

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

double loss_of(const double* x, int n, double w) {
  double h = 0, sum = 0;
  for (int i = 0; i < n; ++i) {
    h = std::tanh(w * h + x[i]);
    sum += h * h;
  }
  return sum;
}

}  // namespace

TEST_CASE("scan over a named extent: states, arrays, derivatives of first and second order") {
  fg::session<plain> s;
  const double w = 0.7, e = 1e-5, xs[] = {0.3, -0.2, 0.9, 0.1, -0.7};
  for (const int n : {1, 3, 5}) {
    CAPTURE(n);
    const std::vector<double> x(xs, xs + n);
    const auto feeds = std::tuple(fg::feed<"xs">(x), fg::feed<"w">(w));
    const auto [loss, dw, ddw] = s.run<"loss", "dw", "ddw">(std::get<0>(feeds), std::get<1>(feeds));
    CHECK(loss == doctest::Approx(loss_of(xs, n, w)));
    const double up = loss_of(xs, n, w + e), down = loss_of(xs, n, w - e);
    CHECK(dw == doctest::Approx((up - down) / (2 * e)).epsilon(1e-6));
    CHECK(ddw == doctest::Approx((up - 2 * loss + down) / (e * e)).epsilon(1e-3));
    const auto dx = s.run<"dx">(std::get<0>(feeds), std::get<1>(feeds));
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
