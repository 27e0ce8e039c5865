// What gradients look like as graphs: typed, linear in size, pruned. Their numbers are checked in tests/ops.
#include <doctest/doctest.h>

#include <flowgraph/define.hpp>

namespace fg = flowgraph;

inline constexpr auto typed = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 3, 2>("w");
  auto b = g.variable<float, 2>("b");
  auto x = g.placeholder<float, 4, 3>("x");
  auto loss = reduce_mean(square(matmul(x, w) + b));
  auto [dw, db] = gradients(loss, w, b);
  static_assert(std::same_as<decltype(dw), fg::tensor<float, 3, 2>>);
  static_assert(std::same_as<decltype(db), fg::tensor<float, 2>>);
  auto second = gradients(reduce_sum(square(dw)), w);
  static_assert(std::same_as<decltype(second), fg::tensor<float, 3, 2>>);
  g.name("second", second);
});
static_assert(typed.view().find("second") > 0);

// y = x + x, n times over: 2^n paths lead back to x, and n additions are all that the gradient may cost.
constexpr int nodes_after_doubling(int n) {
  fg::graph g;
  auto x = g.placeholder<float, 2>("x");
  auto y = x + x;
  for (int i = 1; i < n; ++i) y = y + y;
  auto loss = reduce_sum(y);
  const int before = g.view().size();
  gradients(loss, x);
  return g.view().size() - before;
}
static_assert(nodes_after_doubling(40) - nodes_after_doubling(20) == 20);

// A chain of n costs n.
constexpr int nodes_after_chain(int n) {
  fg::graph g;
  auto x = g.placeholder<float, 2>("x");
  auto y = relu(x);
  for (int i = 1; i < n; ++i) y = relu(y);
  auto loss = reduce_sum(y);
  const int before = g.view().size();
  gradients(loss, x);
  return g.view().size() - before;
}
static_assert(nodes_after_chain(200) - nodes_after_chain(100) == 100);

// Nothing is computed for what nobody asked for: with respect to b alone, matmul's gradient is not there.
inline constexpr auto pruned = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 3, 2>("w");
  auto b = g.variable<float, 2>("b");
  auto x = g.placeholder<float, 4, 3>("x");
  g.name("db", gradients(reduce_sum(matmul(x, w) + b), b));
});
constexpr int count_op(const fg::graph_view& g, std::string_view name) {
  int n = 0;
  for (const fg::node& x : g.nodes) n += x.op->name == name;
  return n;
}
static_assert(count_op(pruned.view(), "matmul") == 1);

// A path through integers or through a rounding carries nothing, by definition; of a derivative nothing may be left.
inline constexpr auto cut = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto z = g.placeholder<float, 4>("z");
  g.name("by_floor", gradients(reduce_sum(floor(x)), x));
  g.name("by_stop", gradients(reduce_sum(stop_gradient(x) * z), x));
  auto dx = gradients(reduce_sum(x * z), x);  // z
  g.name("bend", gradients(reduce_sum(dx), x));
});
constexpr bool is_zero(std::string_view name) {
  const fg::graph_view g = cut.view();
  const int id = g.find(name);
  return g.nodes[id].op->name == "constant" && g.attrs(id)[0] == 0;
}
static_assert(is_zero("by_floor") && is_zero("by_stop") && is_zero("bend"));

TEST_CASE("a gradient by what the loss does not use is a mistake") {
  fg::graph g;
  auto x = g.placeholder<double, 3>("x");
  auto w = g.variable<double, 3>("w");
  auto loss = reduce_sum(square(x));
  CHECK_THROWS_WITH_AS(gradients(loss, w), doctest::Contains("gradients: the loss does not use this tensor"),
                       fg::graph_error);
  CHECK_THROWS_AS(gradients(loss, x, w), fg::graph_error);
  CHECK_THROWS_AS(gradients(loss, x + 1), fg::graph_error);  // made later
  CHECK_NOTHROW(gradients(loss, x));
}

TEST_CASE("gradients take any tensor, not only variables") {
  fg::graph g;
  auto x = g.placeholder<double, 3>("x");
  auto h = exp(x);
  auto dh = gradients(reduce_sum(h * h), h);
  CHECK(dh.id > h.id);
}
