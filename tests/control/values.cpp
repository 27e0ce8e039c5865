// Branches and loops that run: the numbers, what runs and what does not, in sessions of both kinds.
#include <doctest/doctest.h>

#include <tuple>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

constexpr auto branches = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto w = g.variable<float>("w", fg::init::constant(1));
  auto y = fg::cond(
      x > 0.f, [&] { return x * 2.f; }, [&] { return x - w; });
  g.name("y", y);
  auto [a, b] = fg::cond(
      x > 10.f, [&] { return std::tuple(x, x * x); }, [&] { return std::tuple(x * x, x); });
  g.name("a", a);
  g.name("b", b);
  auto counted = g.variable<float>("counted");
  g.name("count",
         fg::cond(
             x > 0.f, [&] { return fg::assign_add(counted, 1.f); }, [&] { return fg::assign_add(counted, 100.f); }));
});

constexpr auto loops = fg::define([](fg::graph& g) {
  auto n = g.placeholder<std::int32_t>("n");
  auto zero = g.constant<std::int32_t>(0);
  auto one = g.constant<std::int32_t>(1);
  auto [turns, last, next] =
      fg::while_loop([&](auto i, auto, auto) { return i < n; },
                     [&](auto i, auto a, auto b) { return std::tuple(i + 1, b, a + b); }, zero, zero, one);
  g.name("fibonacci", last);
  g.name("turns", turns);
});

}  // namespace

TEST_CASE("cond gives what the branch gives that is taken") {
  fg::session<branches> s;
  CHECK(s.run<"y">(fg::feed<"x">(3.f)) == 6);
  CHECK(s.run<"y">(fg::feed<"x">(-3.f)) == -4);
  CHECK(s.run<"a", "b">(fg::feed<"x">(20.f)) == std::tuple(20.f, 400.f));
  CHECK(s.run<"a", "b">(fg::feed<"x">(3.f)) == std::tuple(9.f, 3.f));
}

TEST_CASE("only the branch that is taken changes anything") {
  fg::session<branches> s;
  s.run<"count">(fg::feed<"x">(3.f));
  CHECK(s.get<"counted">() == 1);
  s.run<"count">(fg::feed<"x">(-3.f));
  CHECK(s.get<"counted">() == 101);
}

TEST_CASE("while_loop runs as long as its condition says, from not at all to often") {
  fg::session<loops> s;
  CHECK(s.run<"fibonacci", "turns">(fg::feed<"n">(0)) == std::tuple(0, 0));
  CHECK(s.run<"fibonacci">(fg::feed<"n">(1)) == 1);
  CHECK(s.run<"fibonacci">(fg::feed<"n">(10)) == 55);
  CHECK(s.run<"fibonacci">(fg::feed<"n">(40)) == 102334155);
}
