// Large values leave a step with their memory: nothing is copied, and nothing that was given is written again.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim n{"n"};

constexpr auto chain = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, n>("x");
  auto w = g.variable<float, 1>("w", fg::init::ones());
  auto y = exp(x) + w;
  g.name("y", y);
  g.name("z", fg::reshape<n, 1>(y));
  g.name("sum", fg::cumsum<0>(y));
  g.name("next", assign_add(w, 1));
});

std::vector<float> numbers(std::size_t count) {
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>(i % 7) / 7;
  return v;
}

}  // namespace

TEST_CASE("arrays of earlier steps keep their values") {
  for (const int threads : {1, 2}) {
    fg::session<chain> s({.threads = threads});
    for (const std::size_t count : {std::size_t{10}, std::size_t{5000}, std::size_t{200'000}, std::size_t{5000}}) {
      const std::vector<float> x = numbers(count);
      const auto first = s.run<"y">(fg::feed<"x">(x));
      const std::vector<float> before(first.begin(), first.end());
      std::vector<float> other(count, 3);
      const auto second = s.run<"y">(fg::feed<"x">(other));
      CHECK(std::equal(first.begin(), first.end(), before.begin(), before.end()));
      CHECK(second(0) == second(static_cast<std::int64_t>(count) - 1));
      CHECK(second(0) != first(0));
      CHECK(first.data() != second.data());
    }
  }
}

TEST_CASE("a value that is fetched twice, under two shapes and with what is made of it") {
  fg::session<chain> s({.threads = 1});
  const std::vector<float> x = numbers(10'000);
  for (int step = 0; step < 3; ++step) {
    const auto [y, z, again, sum] = s.run<"y", "z", "y", "sum">(fg::feed<"x">(x));
    double total = 0;
    int wrong = 0;
    for (std::int64_t i = 0; i < 10'000; ++i) {
      wrong += y(i) != z(i, 0) || y(i) != again(i);
      total += static_cast<double>(y(i));
    }
    CHECK(wrong == 0);
    CHECK(y.data() != z.data());
    CHECK(y.data() != again.data());
    CHECK(static_cast<double>(sum(9'999)) == doctest::Approx(total).epsilon(1e-4));
  }
}

TEST_CASE("a variable is copied: the next step changes it") {
  fg::session<chain> s({.threads = 1});
  const auto before = s.run<"w">();
  s.run<"next">();
  CHECK(before(0) == 1);
  CHECK(s.run<"w">()(0) == 2);
}
