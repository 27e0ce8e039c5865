// Branches and loops that run: the numbers, what runs and what does not, in sessions of both kinds.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include <flowgraph.hpp>
#include <flowgraph/session/limits.hpp>

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

// Numbers where a tensor is meant: of the other branch's type, of the variable's, or of their own.
constexpr auto numbers = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  g.name("first", fg::cond(
                      x > 0, [&] { return x; }, [&] { return -1; }));
  g.name("second", fg::cond(
                       x > 0, [&] { return 1; }, [&] { return x; }));
  auto [low, high] = fg::cond(
      x > 0, [&] { return std::tuple(0, x); }, [&] { return std::tuple(x, 0); });
  g.name("low", low);
  g.name("high", high);
  g.name("neither", fg::cond(
                        x > 0, [&] { return 2.5; }, [&] { return 0.5; }));
  auto [turns, doubled] =
      fg::while_loop([](auto i, auto) { return i < 5; }, [](auto i, auto y) { return std::tuple(i + 1, y * 2); }, 0, x);
  g.name("turns", turns);
  g.name("doubled", doubled);
  g.name("reset", fg::while_loop([](auto y) { return y > 3; }, [](auto) { return 1; }, x));
  auto four = fg::while_loop(
      fg::loop_options{.maximum_iterations = 4}, [](auto) { return true; }, [](auto y) { return y + 1; }, x);
  g.name("four", four);
  auto rows = g.constant<float, 3>({1, 2, 3});
  g.name("sum", fg::fold([](auto sum, auto row) { return sum + row; }, 0.f, rows));
});
static_assert(!numbers.failed);

}  // namespace

TEST_CASE("a branch, a body and a loop's beginning may be numbers") {
  fg::session<numbers> s;
  const auto at = [&]<fg::fixed_string Name>(float x) { return s.run<Name>(fg::feed<"x">(x)); };
  CHECK(at.operator()<"first">(4) == 4.f);
  CHECK(at.operator()<"first">(-4) == -1.f);
  CHECK(at.operator()<"second">(4) == 1.f);
  CHECK(at.operator()<"second">(-4) == -4.f);
  CHECK(at.operator()<"low">(4) == 0.f);
  CHECK(at.operator()<"low">(-4) == -4.f);
  CHECK(at.operator()<"high">(4) == 4.f);
  CHECK(at.operator()<"high">(-4) == 0.f);
  CHECK(at.operator()<"neither">(-4) == 0.5);
  CHECK(at.operator()<"turns">(3) == 5);
  CHECK(at.operator()<"doubled">(3) == 96.f);
  CHECK(at.operator()<"reset">(4) == 1.f);
  CHECK(at.operator()<"reset">(2) == 2.f);
  CHECK(at.operator()<"four">(2) == 6.f);
  CHECK(s.run<"sum">() == 6.f);
}

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

TEST_CASE("switch_case takes the branch of the number, and the last one for any other") {
  fg::graph g;
  const auto i = g.placeholder<std::int32_t>("i");
  const auto x = g.placeholder<float, 3>("x");
  const auto y = fg::switch_case(
      i, [&] { return x + 1.f; }, [&] { return x * 2.f; }, [&] { return -x; });
  fg::dynamic_session s(g);
  const std::vector<float> data{1, 2, 3};
  const auto at = [&](int k) { return s.run(y, fg::feed(i, k), fg::feed(x, data))(1); };
  CHECK(at(0) == 3);
  CHECK(at(1) == 4);
  CHECK(at(2) == -2);
  CHECK(at(7) == -2);
  CHECK(at(-1) == -2);
}

TEST_CASE("a loop's variables change all at once, however they change places") {
  fg::graph g;
  const auto n = g.placeholder<std::int32_t>("n");
  const auto a = g.placeholder<float, 2>("a"), b = g.placeholder<float, 2>("b"), c = g.placeholder<float, 2>("c");
  const auto [x, y, z] = fg::repeat(
      n, [](auto p, auto q, auto r) { return std::tuple(q, r, p); }, a, b, c);
  fg::dynamic_session s(g);
  const std::vector<float> one{1, 1}, two{2, 2}, three{3, 3};
  const auto [u, v, w] = s.run(x, y, z, fg::feed(n, 4), fg::feed(a, one), fg::feed(b, two), fg::feed(c, three));
  CHECK(u(1) == 2);
  CHECK(v(0) == 3);
  CHECK(w(1) == 1);
}

TEST_CASE("effects inside run as often as the loop turns, in the order they were written") {
  fg::graph g;
  const auto n = g.placeholder<std::int32_t>("n");
  const auto v = g.variable<float>("v", fg::init::constant(1));
  const auto zero = g.constant<std::int32_t>(0);
  const auto turns = fg::while_loop([&](auto i) { return i < n; },
                                    [&](auto i) {
                                      fg::assign(v, v * 2.f);
                                      fg::cond(
                                          i > 1, [&] { return fg::assign_add(v, 1.f); }, [] {});
                                      return i + 1;
                                    },
                                    zero);
  fg::dynamic_session s(g);
  CHECK(s.run(turns, fg::feed(n, 4)) == 4);
  CHECK(s.get(v) == 19);  // 2, 4, 9, 19
  CHECK(s.run(turns, fg::feed(n, 0)) == 0);
  CHECK(s.get(v) == 19);
}

TEST_CASE("variables made inside a body are the graph's: one for all turns") {
  fg::graph g;
  const auto x = g.placeholder<float>("x");
  const auto y = fg::repeat(
      3,
      [&](auto h) {
        const auto w = g.variable<float>("w", fg::init::constant(2));
        return h * w;
      },
      x);
  fg::dynamic_session s(g);
  CHECK(s.run(y, fg::feed(x, 1.f)) == 8);
}

TEST_CASE("maximum_iterations ends a loop that would go on, and a limit one that would never end") {
  fg::graph g;
  const auto zero = g.constant<std::int64_t>(0);
  const auto forever = [](auto i) { return i >= 0; };
  const auto next = [](auto i) { return i + 1; };
  const auto ten = fg::while_loop(fg::loop_options{.maximum_iterations = 10}, forever, next, zero);
  const auto kept = fg::while_loop(fg::checkpoint_every{.turns = 3, .maximum_iterations = 10}, forever, next, zero);
  const auto never = fg::while_loop(forever, next, zero);
  fg::dynamic_session s(g);
  CHECK(s.run(ten) == 10);
  CHECK(s.run(kept) == 10);
  CHECK_THROWS_AS(s.run(never, fg::within(std::chrono::milliseconds(20))), fg::deadline_error);
  CHECK(s.run(ten) == 10);
}

TEST_CASE("each turn draws numbers of its own, the same in every session of a seed") {
  fg::graph g;
  const auto array = fg::tensor_array<float, 4>(g);
  const auto zero = g.constant<std::int32_t>(0);
  const auto [turns, drawn] = fg::while_loop(
      [](auto i, auto) { return i < 4; },
      [&](auto i, auto a) { return std::tuple(i + 1, fg::write(a, i, fg::random_uniform<float>(g, 0, 1))); }, zero,
      array);
  fg::session_options two;
  two.threads = 2;
  two.inter_op = fg::inter_op_policy::parallel;
  fg::dynamic_session s(g), t(g, two);
  const auto a = s.run(drawn), b = t.run(drawn), c = s.run(drawn);
  for (int i = 0; i < 4; ++i) {
    CHECK(a(i) == b(i));
    CHECK(a(i) != c(i));
    for (int k = 0; k < i; ++k) CHECK(a(i) != a(k));
  }
}

TEST_CASE("the five primitives build the same by hand") {
  fg::graph g;
  const auto n = g.placeholder<std::int32_t>("n");
  auto loop = fg::enter(g.constant<std::int32_t>(0), g.constant<float>(1));
  fg::switch_(loop, std::get<0>(loop.values) < n);
  const auto [i, product] = loop.values;
  const auto even = fg::switch_(i % 2 > 0);
  const auto odd = fg::merge(even, product * 3.f);
  const auto next = fg::merge(odd, product + 1.f);
  fg::next_iteration(loop, i + 1, next);
  const auto [turns, y] = fg::exit(loop);
  fg::dynamic_session s(g);
  CHECK(s.run(y, fg::feed(n, 4)) == 21);  // 2, 6, 7, 21
  const std::string plan = s.plan_text(y, fg::feed(n, 4));
  for (const char* op : {"enter", "switch", "merge", "next_iteration", "exit"}) {
    CAPTURE(op);
    CHECK(plan.find(op) != std::string::npos);
  }
}

TEST_CASE("a body that spans two devices runs in parts") {
  fg::graph g;
  const auto n = g.placeholder<std::int32_t>("n");
  const auto x = g.placeholder<float, 8>("x");
  const auto w = [&] {
    const auto there = g.device("/cpu:1");
    return g.variable<float, 8>("w", fg::init::constant(0.5));
  }();
  const auto y = fg::repeat(
      n,
      [&](auto h) {
        const auto there = g.device("/cpu:1");
        return fg::tanh(h * w);
      },
      x);
  const auto dw = fg::gradients(fg::reduce_sum(y), w);
  const std::vector<float> data(8, 0.7f);
  fg::session_options two;
  two.devices = {"/cpu:0", "/cpu:1"};
  fg::dynamic_session s(g, two);
  const auto [value, derivative] = s.run(y, dw, fg::feed(n, 3), fg::feed(x, data));
  float h = 0.7f, d = 0;  // dh/dw
  for (int i = 0; i < 3; ++i) {
    const float next = std::tanh(h * 0.5f);
    d = (1 - next * next) * (d * 0.5f + h);
    h = next;
  }
  CHECK(value(3) == doctest::Approx(h));
  CHECK(derivative(3) == doctest::Approx(d));
}

TEST_CASE("what a branch made can't be used outside") {
  fg::graph g;
  const auto x = g.placeholder<float>("x");
  fg::tensor<float> inside;
  fg::cond(
      x > 0.f, [&] { return inside = x * 2.f; }, [&] { return x; });
  CHECK_THROWS_AS(inside + x, fg::graph_error);
  CHECK_THROWS_WITH(inside + x, doctest::Contains("can't be used outside"));
  fg::dynamic_session s(g);
  CHECK_THROWS_WITH(s.run(inside, fg::feed(x, 1.f)), doctest::Contains("can't be used outside"));
}
