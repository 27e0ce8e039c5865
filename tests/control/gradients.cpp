// Derivatives of branches and loops: against the formula, and against differences.
#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

// x^n by multiplying, n known when a step runs.
constexpr auto power = fg::define([](fg::graph& g) {
  auto x = g.placeholder<double>("x");
  auto n = g.placeholder<std::int32_t>("n");
  auto zero = g.constant<std::int32_t>(0);
  auto one = g.constant<double>(1);
  auto [turns, y] = fg::while_loop([&](auto i, auto) { return i < n; },
                                   [&](auto i, auto p) { return std::tuple(i + 1, p * x); }, zero, one);
  g.name("y", y);
  auto dy = fg::gradients(y, x);
  g.name("dy", dy);
  g.name("ddy", fg::gradients(dy, x));
});

constexpr auto chosen = fg::define([](fg::graph& g) {
  auto x = g.placeholder<double>("x");
  auto y = fg::cond(
      x > 0., [&] { return fg::exp(x) * x; }, [&] { return fg::sin(x); });
  g.name("y", y);
  auto dy = fg::gradients(y, x);
  g.name("dy", dy);
  g.name("ddy", fg::gradients(dy, x));
});

}  // namespace

TEST_CASE("derivatives of a loop, also where it does not run") {
  fg::session<power> s;
  for (const int n : {0, 1, 2, 5, 9}) {
    CAPTURE(n);
    const double x = 1.3;
    CHECK(s.run<"y">(fg::feed<"x">(x), fg::feed<"n">(n)) == doctest::Approx(std::pow(x, n)));
    CHECK(s.run<"dy">(fg::feed<"x">(x), fg::feed<"n">(n)) == doctest::Approx(n * std::pow(x, n - 1)));
    CHECK(s.run<"ddy">(fg::feed<"x">(x), fg::feed<"n">(n)) == doctest::Approx(n * (n - 1) * std::pow(x, n - 2)));
  }
}

TEST_CASE("derivatives of a branch") {
  fg::session<chosen> s;
  for (const double x : {-1.2, 0.7}) {
    const double e = std::exp(x);
    CHECK(s.run<"y">(fg::feed<"x">(x)) == doctest::Approx(x > 0 ? e * x : std::sin(x)));
    CHECK(s.run<"dy">(fg::feed<"x">(x)) == doctest::Approx(x > 0 ? e * (x + 1) : std::cos(x)));
    CHECK(s.run<"ddy">(fg::feed<"x">(x)) == doctest::Approx(x > 0 ? e * (x + 2) : -std::sin(x)));
  }
}
