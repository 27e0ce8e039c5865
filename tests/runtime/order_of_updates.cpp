// When a step that trains reads what it trains: what does not depend on the optimizer's update reads what was there
// before, wherever it is written; what depends on it reads what it left. Assignments by hand keep their written order.
#include <doctest/doctest.h>

#include <flowgraph.hpp>
#include <tuple>

namespace fg = flowgraph;

namespace {

struct parts {
  bool train_first = false, momentum = false, loop = false;
};

// loss = (w - 3)^2, twice: once before and once behind the update, or both before it.
template <parts P>
constexpr void build(fg::graph& g) {
  auto w = g.variable<float>("w", fg::init::constant(1));
  const auto squared = [&] {
    if constexpr (P.loop)
      return fg::while_loop([](auto i, auto) { return i < 1; },
                            [&](auto i, auto) { return std::tuple(i + 1, square(w - 3.0f)); },
                            g.constant<std::int32_t>(0), g.constant<float>(0));
    else
      return std::tuple(g.constant<std::int32_t>(0), square(w - 3.0f));
  };
  const auto train = [&](const auto& loss) {
    if constexpr (P.momentum)
      return g.name("train", fg::momentum(0.25, 0.5).minimize(loss));
    else
      return g.name("train", fg::gradient_descent(0.25).minimize(loss));
  };
  auto loss = square(w - 3.0f);
  if constexpr (P.train_first) train(loss);
  g.name("loss", loss);
  g.name("again", std::get<1>(squared()));
  if constexpr (!P.train_first) train(loss);
}

template <parts P>
constexpr auto model = fg::define([](fg::graph& g) { build<P>(g); });

// The losses and the variable after each of three steps.
template <parts P>
auto static_steps() {
  fg::session<model<P>> s({.threads = 1});
  std::tuple<fg::ndarray<float, 3>, fg::ndarray<float, 3>, fg::ndarray<float, 3>> all;
  for (int i = 0; i < 3; ++i) {
    const auto [loss, again] = s.template run<"loss", "again", "train">();
    std::get<0>(all)[i] = loss, std::get<1>(all)[i] = again;
    std::get<2>(all)[i] = s.template get<"w">();
  }
  return all;
}
template <parts P>
auto dynamic_steps(const fg::session_options& options) {
  fg::graph g;
  build<P>(g);
  fg::dynamic_session s(g, options);
  const auto loss = s.find<float>("loss"), again = s.find<float>("again");
  const auto train = s.find_operation("train");
  const fg::variable<float> w{s.find<float>("w")};
  std::tuple<fg::ndarray<float, 3>, fg::ndarray<float, 3>, fg::ndarray<float, 3>> all;
  for (int i = 0; i < 3; ++i) {
    const auto [l, a] = s.run(train, loss, again);
    std::get<0>(all)[i] = l, std::get<1>(all)[i] = a;
    std::get<2>(all)[i] = s.get(w);
  }
  return all;
}

template <bool Momentum, bool Loop>
void check_orders() {
  // w = 1, 2, 2.5, ... by hand: w -= 0.25 * 2 (w - 3).
  constexpr parts before{false, Momentum, Loop}, behind{true, Momentum, Loop};
  const auto all = static_steps<before>();
  CHECK(std::get<0>(all)[0] == 4);
  CHECK(std::get<2>(all)[0] == 2);
  if (!Momentum) CHECK(std::get<2>(all) == fg::ndarray<float, 3>{2, 2.5f, 2.75f});
  CHECK(std::get<0>(all) == std::get<1>(all));
  CHECK(static_steps<behind>() == all);
  CHECK(dynamic_steps<before>({}) == all);
  CHECK(dynamic_steps<behind>({}) == all);
  CHECK(dynamic_steps<behind>({.threads = 2, .serial_below = 0}) == all);
  fg::session_options as_written;
  as_written.passes = {.fold = false, .simplify = false, .cse = false, .fuse = false};
  CHECK(dynamic_steps<behind>(as_written) == all);
}

constexpr auto by_hand = fg::define([](fg::graph& g) {
  auto w = g.variable<float>("w", fg::init::constant(1));
  auto n = g.variable<float>("n");
  auto train = g.name("train", fg::gradient_descent(0.25).minimize(square(w - 3.0f)));
  auto plain = w * 10.0f;
  {
    auto after = g.control_dependencies(train);
    g.name("after", w * 10.0f);
  }
  g.name("plain", plain);
  g.name("add", assign_add(n, 1));
  g.name("n_then", n + 0.5f);  // behind the assignment, as it is written
  g.name("both", group(g.name("once_more", fg::gradient_descent(0.25).minimize(square(w - 3.0f))), train));
});

}  // namespace

TEST_CASE("a loss is that of the step's beginning, wherever it and the update are written") {
  check_orders<false, false>();
  check_orders<true, false>();
  check_orders<false, true>();
}

TEST_CASE("behind a control dependency the new value is read, and assignments keep their order") {
  fg::session<by_hand> s({.threads = 1});
  const auto [after, plain, n] = s.run<"train", "after", "plain", "add", "n_then">();
  CHECK(after == 20);
  CHECK(plain == 10);
  CHECK(n == 1.5f);
  CHECK(s.get<"w">() == 2);
  s.set<"w">(1.0f);
  const auto [w, before] = s.run<"train", "w", "plain">();  // a variable: what the step leaves
  CHECK(w == 2);
  CHECK(before == 10);
  s.set<"w">(1.0f);
  s.run<"both">();  // each by the gradient of the beginning
  CHECK(s.get<"w">() == 3);
}
