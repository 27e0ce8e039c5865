// Variables changed by hand, order, checks, prints and users' functions, in sessions.
#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

using floats = std::vector<float>;

template <class Array>
floats values(const Array& a) {
  return {a.begin(), a.end()};
}

int calls = 0;

void scale_rows(fg::array_ref<const float> x, fg::array_ref<const float> scale, fg::array_ref<float> y) {
  ++calls;
  for (std::int64_t i = 0; i < x.dim(0); ++i)
    for (std::int64_t j = 0; j < x.dim(1); ++j) y(i, j) = x(i, j) * scale[i];
}

float seen = 0;
inline constexpr auto remember = [](auto x) { seen = static_cast<float>(x[0]); };

void refuse(fg::array_ref<const float>) { throw std::runtime_error("I will not"); }

}  // namespace

TEST_CASE("reads and updates of a variable happen in the order in which they are written") {
  fg::graph g;
  auto v = g.variable<float>("v", fg::init::constant(1));
  auto before = identity(v);
  auto add = assign_add(v, 2);
  auto between = identity(v);
  auto times = assign(v, between * 10.0f);
  auto after = identity(v);
  auto all = group(add, times, after);
  for (const int threads : {1, 2}) {
    fg::dynamic_session s(g, {.threads = threads});
    const auto [a, b, c] = s.run(before, between, after, all);
    CHECK(a == 1);
    CHECK(b == 3);
    CHECK(c == 30);
    CHECK(s.get(v) == 30);
  }
}

TEST_CASE("a control dependency makes a read wait, and an update run") {
  fg::graph g;
  auto n = g.variable<std::int64_t>("n");
  auto x = g.placeholder<float>("x");
  auto count = assign_add(n, 1);
  auto counted = [&] {
    auto after = g.control_dependencies(count);
    return identity(x);
  }();
  fg::dynamic_session s(g);
  CHECK(s.run(counted, fg::feed(x, 2.5f)) == 2.5f);
  CHECK(s.run(counted, fg::feed(x, 3.5f)) == 3.5f);
  CHECK(s.get(n) == 2);
  CHECK(s.run(x + 1.0f, fg::feed(x, 1.0f)) == 2);
  CHECK(s.get(n) == 2);
}

TEST_CASE("rows of a variable") {
  fg::graph g;
  auto table = g.variable<float, 4, 2>("table");
  auto i = g.placeholder<int, batch>("i");
  auto rows = g.placeholder<float, batch, 2>("rows");
  auto put = scatter_update(table, i, rows), add = scatter_add(table, i, rows);
  fg::dynamic_session s(g);
  const fg::ndarray<float, batch, 2> two{{1, 2}, {3, 4}};
  s.run(put, fg::feed(i, std::vector<int>{3, 1}), fg::feed(rows, two));
  s.run(add, fg::feed(i, std::vector<int>{1, 1}), fg::feed(rows, two));
  CHECK(values(s.get(table)) == floats{0, 0, 7, 10, 0, 0, 1, 2});
  CHECK_THROWS_AS(s.run(add, fg::feed(i, std::vector<int>{0, 4}), fg::feed(rows, two)), fg::execution_error);
  CHECK(values(s.get(table)) == floats{0, 0, 7, 10, 0, 0, 1, 2});
}

TEST_CASE("a check that fails stops the step before what depends on it") {
  fg::graph g;
  auto x = g.placeholder<float, batch>("x");
  auto v = g.variable<float>("v");
  auto positive = g.name("positive", check(x > 0, "x must be positive"));
  auto update = [&] {
    auto after = g.control_dependencies(positive);
    return assign_add(v, 1);
  }();
  fg::dynamic_session s(g, {.threads = 2});
  s.run(update, fg::feed(x, floats{1, 2}));
  CHECK(s.get(v) == 1);
  try {
    s.run(update, fg::feed(x, floats{1, -2, 3}));
    FAIL("no error");
  } catch (const fg::execution_error& e) {
    CHECK(e.why() == fg::problem::check_failed);
    CHECK(std::string(e.what()).find("x must be positive (element 1 of 3 is false)") != std::string::npos);
    CHECK(std::string(e.what()).find("positive") != std::string::npos);
  }
  CHECK(s.get(v) == 1);
}

TEST_CASE("print passes its operand and its gradient on; stop_gradient only the operand") {
  fg::graph g;
  auto x = g.placeholder<float, 2>("x");
  auto y = print(x * 3.0f, "x * 3 =");
  auto dx = gradients(reduce_sum(y * stop_gradient(x)), x);
  fg::dynamic_session s(g);
  const auto [value, d] = s.run(y, dx, fg::feed(x, floats{1, 2}));
  CHECK(values(value) == floats{3, 6});
  CHECK(values(d) == floats{3, 6});
}

TEST_CASE("a user's function computes a node, and another one watches") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  auto scale = g.placeholder<float, batch>("scale");
  auto y = fg::host_call<"scale_rows", scale_rows, fg::tensor<float, batch, 2>>(x, scale);
  auto watch = fg::host_call<"remember", remember>(y);
  fg::dynamic_session s(g);
  const fg::ndarray<float, batch, 2> a{{1, 2}, {3, 4}};
  calls = 0;
  CHECK(values(s.run(y * 2.0f, fg::feed(x, a), fg::feed(scale, floats{10, 100}), watch)) == floats{20, 40, 600, 800});
  CHECK(calls == 1);
  CHECK(seen == 10);
}

TEST_CASE("what a user's function throws stops the step, with the node's name in front") {
  fg::graph g;
  auto x = g.placeholder<float>("x");
  auto call = g.name("stubborn", fg::host_call<"refuse", refuse>(x));
  fg::dynamic_session s(g);
  try {
    s.run(call, fg::feed(x, 1.0f));
    FAIL("no error");
  } catch (const fg::execution_error& e) {
    CHECK(std::string(e.what()).find("stubborn") != std::string::npos);
    CHECK(std::string(e.what()).find("I will not") != std::string::npos);
  }
}

TEST_CASE("a user's function has no gradient, and says so by name") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  auto scale = g.placeholder<float, batch>("scale");
  auto y = fg::host_call<"scale_rows", scale_rows, fg::tensor<float, batch, 2>>(x, scale);
  try {
    (void)gradients(reduce_sum(y), x);
    FAIL("no error");
  } catch (const fg::graph_error& e) {
    CHECK(e.why() == fg::problem::no_gradient);
    CHECK(std::string(e.what()).find("host_call:scale_rows(float,float)->float") != std::string::npos);
  }
}

namespace {

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto n = g.variable<std::int64_t>("n", fg::init::constant(5));
  auto scale = reduce_sum<1>(x);
  g.name("y", fg::host_call<"scale_rows", scale_rows, fg::tensor<float, batch, 2>>(x, scale));
  auto count = assign_sub(n, 1);
  auto enough = [&] {
    auto after = g.control_dependencies(count);
    return check(greater_equal(n, 3), "n must stay at 3 or above");
  }();
  g.name("count", group(count, enough, no_op(g)));
});

}  // namespace

TEST_CASE("state, checks and users' functions in a constexpr model") {
  fg::session<model> s;
  const fg::ndarray<float, batch, 2> a{{1, 2}, {3, 4}};
  CHECK(values(s.run<"y">(fg::feed<"x">(a))) == floats{3, 6, 21, 28});
  s.run<"count">();
  s.run<"count">();
  CHECK(s.get<"n">() == 3);
  CHECK_THROWS_AS(s.run<"count">(), fg::execution_error);
}
