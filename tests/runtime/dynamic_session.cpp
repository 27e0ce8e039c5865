#include <flowgraph/session/dynamic_session.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/kernels/register_kernel.hpp>
#include <flowgraph/session/session.hpp>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

// A user's op, in a user's file: y = x + the sum of x.
struct plus_sum : fg::op<plus_sum, "plus_sum"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};
// A user's element-wise op: its scalar function is its kernel.
struct cube_function {
  template <class M, class X>
  static constexpr auto apply(const M&, const X& x) {
    return x * x * x;
  }
};
struct cube : fg::ops::unary<cube, "cube", cube_function> {};
struct unknown_op : fg::op<unknown_op, "unknown_op"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};

}  // namespace

template <>
struct fg::cpu_kernel<plus_sum> {
  using types = fg::floating_types;
  template <class T>
  static void run(const fg::kernel_args& k) {
    T sum = 0;
    for (std::int64_t i = 0; i < k.in[0].size(); ++i) sum += k.in[0].as<const T>()[i];
    for (std::int64_t i = 0; i < k.in[0].size(); ++i) k.out[0].as<T>()[i] = k.in[0].as<const T>()[i] + sum;
  }
};

namespace {

const fg::register_kernel<plus_sum> plus_sum_kernel;
const fg::register_kernel<cube> cube_kernel;

constexpr auto with_users_ops = [](fg::graph& g) {
  auto x = g.placeholder<float, 3>("x");
  g.name("y", fg::apply<cube>(fg::apply<plus_sum>(x)) + 1);
};
constexpr auto users_model = fg::define(with_users_ops);

}  // namespace

TEST_CASE("fetches and feeds stand in any order and give typed values") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = x * 2;
  auto sum = reduce_sum(y);
  auto n = g.variable<int>("n");
  auto count = assign_add(n, 1);
  fg::dynamic_session s(g, {.threads = 1});
  const std::vector<float> values{1, 2, 3, 4};
  const auto both = s.run(fg::feed(x, values), sum, count, y);
  static_assert(std::is_same_v<decltype(both), const std::tuple<float, fg::ndarray<float, batch, 2>>>);
  CHECK(std::get<0>(both) == 20);
  CHECK(std::get<1>(both)(1, 1) == 8);
  static_assert(std::is_void_v<decltype(s.run(count))>);
  s.run(count);
  CHECK(s.get(n)() == 2);
  s.set(n, 5);
  CHECK(s.run(n) == 5);
}

TEST_CASE("handles by name have the type that is asked for, or an exception says what they are") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  g.name("y", x * 2);
  auto n = g.variable<int>("n");
  g.name("count", assign_add(n, 1));
  fg::dynamic_session s(g);
  auto y = s.find<float, batch, 2>("y");
  static_assert(std::is_same_v<decltype(y), fg::tensor<float, batch, 2>>);
  s.run(s.find_operation("count"));
  CHECK(s.run(y, fg::feed("x", std::vector<float>{1, 2}))(0, 1) == 4);
  try {
    s.find<float, batch, 3>("y");
    FAIL("no exception");
  } catch (const fg::graph_error& e) {
    CHECK(std::string(e.what()) == "\"y\" is float[batch, 2], not float[batch, 3]");
  }
  CHECK_THROWS_AS(s.find<float>("count"), fg::graph_error);
  CHECK_THROWS_AS(s.find_operation("y"), fg::graph_error);
}

TEST_CASE("a graph may grow between steps") {
  fg::graph g;
  auto x = g.placeholder<float, 2>("x");
  auto y = x + 1;
  fg::dynamic_session s(g);
  const std::vector<float> values{1, 2};
  CHECK(s.run(y, fg::feed(x, values))(1) == 3);
  auto w = g.variable<float, 2>("w", fg::init::constant(10));
  auto z = y * w;
  for (int i = 0; i < 200; ++i) z = z + 0.5f;  // every table of the graph grows
  CHECK(s.run(z, fg::feed(x, values))(1) == 130);
  CHECK(s.run(y, fg::feed(x, values))(1) == 3);
}

TEST_CASE("both kinds of session agree on the same model, bit for bit") {
  fg::graph g;
  models::build_mlp(g);
  fg::dynamic_session dynamic(g, {.threads = 1, .seed = 3});
  fg::session<models::mlp> fixed({.threads = 1, .seed = 3});
  auto loss = dynamic.find<float>("loss");
  auto train = dynamic.find_operation("train");
  fg::ndarray<float, 16, 8> x;
  fg::ndarray<std::int64_t, 16> y;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) x(i, j) = std::cos(static_cast<float>(i + 3 * j));
    y(i) = i % 4;
  }
  for (int step = 0; step < 20; ++step) {
    const float a = dynamic.run(loss, train, fg::feed("x", x), fg::feed("y", y));
    const float b = fixed.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
    CHECK(a == b);
  }
}

TEST_CASE("a user's ops run in both kinds of session, fused ones too") {
  const std::vector<float> x{1, 2, 3};
  fg::session<users_model> fixed;
  CHECK(fixed.run<"y">(fg::feed<"x">(x)) == fg::ndarray<float, 3>{344, 513, 730});
  fg::graph g;
  with_users_ops(g);
  fg::dynamic_session s(g);
  CHECK(s.run(s.find<float, 3>("y"), fg::feed("x", x)) == fg::ndarray<float, 3>{344, 513, 730});
}

TEST_CASE("an op without a kernel is named with its type and line") {
  fg::graph g;
  auto x = g.placeholder<float, 3>("x");
  auto y = g.name("y", fg::apply<unknown_op>(x));
  fg::dynamic_session s(g);
  const std::vector<float> values(3);
  try {
    s.run(y, fg::feed(x, values));
    FAIL("no exception");
  } catch (const fg::plan_error& e) {
    const std::string text = e.what();
    CHECK(e.why() == fg::problem::no_kernel);
    CHECK(text.find("\"y\"") == 0);
    CHECK(text.find("dynamic_session.cpp:") != std::string::npos);
    CHECK(text.find("unknown_op has no kernel for float on the CPU") != std::string::npos);
  }
  CHECK_THROWS_AS(s.run(y, fg::feed(x, values)), fg::plan_error);  // and again
  CHECK(s.run(x, fg::feed(x, values)).size() == 3);
}

TEST_CASE("values go into memory that the caller has") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = x * 2.0f;
  auto sum = reduce_sum(y);
  fg::dynamic_session s(g, {.threads = 1});
  std::vector<float> flat(4);
  fg::ndview<float, batch, 2> view(flat);
  float value = 0;
  s.run_into(std::tie(value, view), sum, y, fg::feed(x, std::vector<float>{1, 2, 3, 4}));
  CHECK(value == 20);
  CHECK(flat == std::vector<float>{2, 4, 6, 8});
  CHECK_THROWS_AS(s.run_into(view, y, fg::feed(x, std::vector<float>{1, 2})), fg::argument_error);
}
