// Models that are called as functions are, and expressions that are computed once.
#include <flowgraph/session/function.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/eval.hpp>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

constexpr auto formula = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto unused = g.placeholder<float>("unused");
  auto scale = g.placeholder<float>("scale");
  auto twice = g.name("twice", 2 * x);
  g.name("scaled", twice * scale);
  g.name("total", reduce_sum(twice) * scale);
  g.name("constant", g.constant<float, 3>(4) + 1);
  g.name("all", reduce_sum(x) + unused);
});

constexpr auto product = [](fg::graph& g) {
  return matmul(g.constant<float, 1, 2>({1.0f, 2.0f}), g.constant<float, 2, 1>({3.0f, 4.0f}));
};

}  // namespace

TEST_CASE("a function takes the placeholders that its outputs need, in their order, or feeds by name") {
  const std::vector<float> x{1, 2, 3, 4};
  const fg::function<formula, "twice"> twice;
  CHECK(twice(x) == fg::ndarray<float, batch, 2>{{2, 4}, {6, 8}});
  const fg::function<formula, "scaled"> scaled;
  CHECK(scaled(x, 0.5f) == fg::ndarray<float, batch, 2>{{1, 2}, {3, 4}});
  CHECK(scaled(fg::feed<"scale">(2.0f), fg::feed<"x">(x))(1, 1) == 16);
  CHECK(scaled(fg::feed<"scale">(2.0f), fg::feed<"twice">(x))(1, 1) == 8);  // any tensor may be fed
  const fg::function<formula, "total"> total;
  const float sum = total(fg::ndarray<float, batch, 2>{{1, 2}}, 3.0f);
  CHECK(sum == 18);
  CHECK(fg::function<formula, "constant">()() == fg::ndarray<float, 3>{5, 5, 5});
  const auto [y, t] = fg::function<formula, "twice", "total">()(x, 1.0f);
  CHECK(y(0, 1) == 4);
  CHECK(t == 20);
  CHECK_THROWS_WITH_AS(twice(std::vector<float>(3)), doctest::Contains("): expected float[batch, 2], got 3 values"),
                       fg::feed_error);
}

TEST_CASE("a function that shares a session computes with what was trained there") {
  fg::session<models::mlp> s({.threads = 1, .seed = 2});
  const fg::function<models::mlp, "logits"> shared(s), own({.threads = 1, .seed = 2});
  const std::vector<float> x(16, 0.5f);
  const std::vector<std::int64_t> y{1, 2};
  const auto before = shared(x);
  CHECK(before == own(x));
  s.run<"train">(fg::feed<"x">(x), fg::feed<"y">(y));
  CHECK_FALSE(shared(x) == before);
  CHECK(shared(x) == s.run<"logits">(fg::feed<"x">(x)));
  CHECK(own(x) == before);
}

TEST_CASE("expressions are computed once") {
  const fg::ndarray<float, 2, 2> a{{1, 2}, {3, 4}};
  CHECK(fg::eval([&](fg::graph& g) { return matmul(g.constant(a), g.constant(a)); }) ==
        fg::ndarray<float, 2, 2>{{7, 10}, {15, 22}});
  const auto [sum, most] = fg::eval([&](fg::graph& g) {
    auto x = g.constant(a);
    return std::tuple(reduce_sum(x), reduce_max<0>(x));
  });
  CHECK(sum == 10);
  CHECK(most == fg::ndarray<float, 2>{3, 4});

  fg::graph g;
  auto x = g.variable<float, 2>("x", fg::init::from(std::vector<float>{5, 6}));
  auto y = x * 2 + 1;
  CHECK(fg::eval(y) == fg::ndarray<float, 2>{11, 13});
  CHECK(std::get<1>(fg::eval(x, y)) == fg::ndarray<float, 2>{11, 13});
  CHECK_THROWS_WITH_AS(fg::eval(g.placeholder<float>("p") + 1),
                       doctest::Contains("): run: a placeholder that the fetches need is not fed: float[]"),
                       fg::feed_error);

  CHECK(fg::eval<product>()(0, 0) == 11);
}
