// Watched tensors: shown in every step, while run gives what it always gives.
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/look/watch.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  auto w = g.variable<float>("w", fg::init::ones());
  auto h = g.name("h", x * w + 1.0f);
  auto loss = g.name("loss", reduce_sum(h));
  g.name("count", assign_add(w, 1.0f));
  g.name("twice", loss * 2.0f);
});

struct seen {
  std::vector<std::string> names;
  std::vector<float> numbers;
};

auto note(seen& to) {
  return [&to]<class T>(std::string_view name, const T& value) {
    to.names.emplace_back(name);
    if constexpr (std::is_same_v<T, float>)
      to.numbers.push_back(value);
    else
      to.numbers.push_back(value(0));
  };
}

}  // namespace

TEST_CASE("watch by name: a callback sees each value, run gives what was fetched") {
  fg::session<model> s({.threads = 1});
  seen all;
  auto w = fg::debug::watch<"h", "loss">(s, note(all));
  const std::vector<float> x{1, 2};
  const float loss = w.run<"loss", "count">(fg::feed<"x">(x));
  CHECK(loss == 5);
  const auto [twice, again] = w.run<"twice", "loss">(fg::feed<"x">(x));
  CHECK(twice == 16);
  CHECK(again == 8);
  static_assert(std::is_void_v<decltype(w.run<"count">(fg::feed<"x">(x)))>);
  w.run<"count">(fg::feed<"x">(x));
  CHECK(all.names == std::vector<std::string>{"h", "loss", "h", "loss", "h", "loss"});
  CHECK(all.numbers == std::vector<float>{2, 5, 3, 8, 3, 8});
}

TEST_CASE("watch by handles in a graph that was built at run time") {
  fg::graph g;
  auto x = g.placeholder<float, batch>("x");
  auto h = x + 1.0f;
  auto loss = g.name("loss", reduce_sum(h));
  fg::dynamic_session s(g, {.threads = 1});
  seen all;
  auto w = fg::debug::watch(s, note(all), h, loss);
  const fg::ndarray<float, batch> y = w.run(h * 2.0f, fg::feed(x, std::vector<float>{1, 2}));
  CHECK(y == fg::ndarray<float, batch>{4, 6});
  CHECK(all.names == std::vector<std::string>{"add_" + std::to_string(h.id), "loss"});
  CHECK(all.numbers == std::vector<float>{2, 5});
}

TEST_CASE("without a callback, values are shown with their range") {
  fg::session<model> s({.threads = 1});
  auto w = fg::debug::watch<"h">(s);
  CHECK(w.run<"loss">(fg::feed<"x">(std::vector<float>{1, 2})) == 5);
}
