// Models, graphs and plans as text.
#include <doctest/doctest.h>

#include <string>

#include <flowgraph/define.hpp>
#include <flowgraph/language/print.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};
constexpr auto build = [](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  auto w = g.variable<float, 3, 2>("w");
  g.name("y", relu(matmul(x, w) + 1));
};
constexpr auto model = fg::define(build);

TEST_CASE("a model prints as the graph that the same code builds at run time") {
  fg::graph g;
  build(g);
  const std::string text = fg::to_text(model);
  CHECK(text == fg::to_text(g));
  CHECK(text.find("matmul(%0, %1) : float[batch, 2]") != std::string::npos);
  CHECK(fg::to_dot(model).find("digraph") == 0);
}

constexpr auto in_other_letters = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 3>("größe");
  g.name("日本", x + 1);
});

TEST_CASE("names may have letters of any language") {
  CHECK(fg::to_text(in_other_letters).find("\"größe\"") != std::string::npos);
  CHECK(fg::to_dot(in_other_letters).find("日本") != std::string::npos);
}

TEST_CASE("the plan of a step is a constexpr value that prints") {
  constexpr const auto& plan = fg::plan_of<model, fg::fetch<"y">, fg::fetch<"x">>;
  static_assert(plan.view().instructions.size() == 1, "a product, with its two neighbours behind it");
  const std::string text = fg::to_text(plan);
  CHECK(text.find("matmul") != std::string::npos);
  CHECK(text.find("relu") != std::string::npos);
}
