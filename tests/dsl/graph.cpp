// Handles, names, scopes, devices, control dependencies and source lines, in both ways of building a graph.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <tuple>

#include <flowgraph/define.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

template <fg::floating_tensor T>
constexpr bool takes_floating(const T&) {
  return true;
}
template <class T>
constexpr bool takes_floating(const T&) {
  return false;
}

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  static_assert(std::same_as<decltype(x), fg::tensor<float, batch, 4>>);
  static_assert(std::same_as<decltype(x * 2 + x), fg::tensor<float, batch, 4>>);
  static_assert(std::same_as<decltype(1.0 / x), fg::tensor<float, batch, 4>>);
  static_assert(std::same_as<decltype(x < 0), fg::tensor<bool, batch, 4>>);
  static_assert(std::same_as<decltype(cast<std::int64_t>(x)), fg::tensor<std::int64_t, batch, 4>>);

  auto row = g.placeholder<float, 4>("row");
  auto column = g.placeholder<float, batch, 1>("column");
  static_assert(std::same_as<decltype(row + column), fg::tensor<float, batch, 4>>, "NumPy's broadcasting");
  static_assert(std::same_as<decltype(g.placeholder<float, 2 * batch>("d")), fg::tensor<float, fg::dim{"2*batch"}>>);

  auto w = g.variable<float, 4, 4>("w");
  static_assert(fg::any_tensor<decltype(w)> && fg::any_variable<decltype(w)> && !fg::any_variable<decltype(x)>);
  static_assert(fg::matrix<decltype(w)> && fg::floating_tensor<decltype(w)> && !fg::scalar_tensor<decltype(w)>);
  static_assert(fg::rank_v<decltype(x)> == 2 && fg::extent_v<1, decltype(x)> == 4 &&
                fg::extent_v<-1, decltype(x)> == 4);
  static_assert(fg::extent_v<0, decltype(x)> == batch);
  static_assert(std::same_as<fg::element_t<decltype(w)>, float>);
  static_assert(takes_floating(fg::tensor<double, 3>{}) && !takes_floating(fg::tensor<int, 3>{}));
  static_assert(sizeof(x) == 2 * sizeof(void*));

  auto shared = g.share_variables();
  for (int i = 0; i < 3; ++i) {
    auto layer = g.scope("layer");
    auto v = g.variable<float, 4>("w");
    auto inner = g.scope("inner");
    g.variable<float, 4>("b");
    g.name("v", v);  // the same variable, which has this name after the first time
  }
  {
    auto on_server = g.device("/job:ps/task:1");
    g.name("remote", w + 1);
  }
  g.name("local", w + 2);
  auto update = assign_add(w, w);
  auto after = g.control_dependencies(update);
  g.name("ordered", identity(w));
  g.name("literal", g.constant<float, 2, 2>({1.f, 2.f, 3.f, 4.f}));
});

constexpr fg::graph_view v = model.view();

static_assert(v.find("layer/w") >= 0 && v.find("layer/w_1") < 0 && v.find("layer/inner/v") == v.find("layer/w"));
static_assert(v.find("layer/inner/b") >= 0 && v.find("layer/inner/b_1") < 0);
static_assert(v.find("layer") < 0);
static_assert(v.device(v.find("remote")) == "/job:ps/task:1" && v.device(v.find("local")).empty());
static_assert(v.controls(v.find("ordered")).size() == 1 && v.controls(v.find("local")).size() == 0);
static_assert(v.nodes[v.controls(v.find("ordered"))[0]].op->name == "assign_add");
static_assert(v.attrs(v.find("literal")).size() == 4);
static_assert(v.name_of(v.find("remote")) == "remote");

// The line of the user's expression, for functions and for operators.
constexpr int function_line = __LINE__ + 4;
constexpr int operator_line = function_line + 1;
inline constexpr auto lines = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto f = g.name("function", relu(x));
  g.name("operator", 2.0f * f);
});
static_assert(lines.view().origins[lines.view().find("function")].where.line == function_line);
static_assert(lines.view().origins[lines.view().find("operator")].where.line == operator_line);

TEST_CASE("the same code builds the same graph at run time") {
  const auto build = [](fg::graph& g) {
    auto x = g.placeholder<float, batch, 4>("x");
    auto w = g.variable<float, 4, 2>("w", fg::init::he_normal());
    auto loss = g.name("loss", reduce_mean(square(matmul(tanh(x), w))));
    g.name("train", fg::momentum(0.1, 0.9, true).minimize(loss));
  };
  static constexpr auto compiled = fg::define(build);
  fg::graph g;
  build(g);
  CHECK(fg::detail::fingerprint_of(g.view()) == compiled.fingerprint());
}

TEST_CASE("what the compiler reports in a constexpr graph is thrown at run time, with line and subject") {
  fg::graph g, other;
  auto x = g.placeholder<float, batch>("x");
  auto y = other.placeholder<float, batch>("y");
  CHECK_THROWS_AS(x + y, fg::graph_error);
  CHECK_THROWS_AS(g.placeholder<float>("a/b"), fg::graph_error);
  CHECK_THROWS_AS(g.placeholder<float>(""), fg::graph_error);
  CHECK_THROWS_AS((void)g.device("gpu"), fg::graph_error);
  auto w = g.variable<float, 3>("w");
  auto loss = reduce_sum(square(w));
  g.name("loss", loss);
  CHECK_NOTHROW(g.name("loss", loss));  // it has this name
  CHECK_THROWS_WITH_AS(g.name("loss", loss * 2), doctest::Contains("\"loss\": this name is given already"),
                       fg::graph_error);
  CHECK_THROWS_AS((g.variable<float, 3>("w")), fg::graph_error);
  CHECK_THROWS_AS((g.variable<float, 4>("w")), fg::graph_error);
  CHECK_THROWS_AS((g.placeholder<float, 4>("x")), fg::graph_error);
  {
    auto shared = g.share_variables();
    CHECK((g.variable<float, 3>("w").id) == w.id);
    CHECK_THROWS_AS((g.variable<float, 4>("w")), fg::graph_error);
    CHECK_THROWS_AS((g.variable<double, 3>("w")), fg::graph_error);
    CHECK_THROWS_AS((g.variable<float>("loss")), fg::graph_error);
    CHECK((g.variable<float, 3>("new").id) != w.id);
  }
  CHECK_THROWS_AS(std::ignore = fg::adagrad(std::numeric_limits<double>::quiet_NaN()).minimize(loss),
                  fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::gradient_descent(-1).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::momentum(0.1, 1.5).minimize(loss), fg::argument_error);
  CHECK_THROWS_AS(std::ignore = fg::gradient_descent(0.1).minimize(reduce_sum(g.placeholder<float, 3>("z"))),
                  fg::graph_error);
  try {
    g.placeholder<float>("has space");
    FAIL("a name with a space was taken");
  } catch (const fg::graph_error& e) {
    const std::string text = e.what();
    CHECK(text.find("graph.cpp:") != std::string::npos);
    CHECK(text.find("\"has space\"") != std::string::npos);
  }
}

TEST_CASE("device names") {
  static_assert(fg::parse_device("/job:ps/task:1/gpu:0").task == 1);
  static_assert(!fg::parse_device("gpu:0").ok && !fg::parse_device("/gpu").ok && !fg::parse_device("/gpu:x").ok);
  static_assert(!fg::parse_device("/tpu:0").ok && !fg::parse_device("/job:").ok);
  static_assert(fg::parse_device("/gpu:0").matches(fg::parse_device("/job:worker/task:3/gpu:0")));
  static_assert(!fg::parse_device("/gpu:0").matches(fg::parse_device("/job:worker/task:3/gpu:1")));
}
