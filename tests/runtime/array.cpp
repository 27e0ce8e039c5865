// Array and random ops in sessions: extents that only feeds bind, numbers that depend on the seed alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim steps{"time"};

using floats = std::vector<float>;

template <class Array>
floats values(const Array& a) {
  return {a.begin(), a.end()};
}

}  // namespace

TEST_CASE("parts whose extents are named are joined, cut and differentiated by their numbers") {
  using fg::by, fg::edge, fg::from, fg::to;
  fg::graph g;
  auto x = g.placeholder<float, batch>("x");
  auto y = g.placeholder<float, steps>("y");
  auto joined = fg::concat<0>(x, y, x);
  auto weights = fg::range<float, 2 * batch + steps>(g);
  auto [dx, dy] = gradients(reduce_sum(joined * weights), x, y);
  auto tail = fg::slice<from<1>, batch - 1>(x);
  auto dtail = gradients(reduce_sum(square(tail)), x);
  auto odd = fg::strided_slice<from<edge>, to<edge>, by<-2>>(y);
  auto dodd = gradients(reduce_sum(square(odd)), y);
  auto tiled = fg::tile<2>(y);
  auto dtiled = gradients(reduce_sum(tiled * fg::range<float, 2 * steps>(g)), y);
  auto padded = fg::pad<1, 2>(y, 9);
  fg::dynamic_session s(g);
  const floats a{1, 2}, b{3, 4, 5};
  const auto [j, gx, gy, t, gt, o, go, ti, gti, p, n, e] =
      s.run(joined, dx, dy, tail, dtail, odd, dodd, tiled, dtiled, padded, shape(joined), size(joined), fg::feed(x, a),
            fg::feed(y, b));
  CHECK(values(j) == floats{1, 2, 3, 4, 5, 1, 2});
  CHECK(values(gx) == floats{0 + 5, 1 + 6});
  CHECK(values(gy) == floats{2, 3, 4});
  CHECK(values(t) == floats{2});
  CHECK(values(gt) == floats{0, 4});
  CHECK(values(o) == floats{5, 3});
  CHECK(values(go) == floats{6, 0, 10});
  CHECK(values(ti) == floats{3, 4, 5, 3, 4, 5});
  CHECK(values(gti) == floats{3, 5, 7});
  CHECK(values(p) == floats{9, 3, 4, 5, 9, 9});
  CHECK(n(0) == 7);
  CHECK(e == 7);
}

TEST_CASE("a number of elements that a named extent turns out not to have is refused with the feeds") {
  fg::graph g;
  auto x = g.placeholder<float, steps>("x");
  auto first = g.name("first", fg::slice<fg::from<0>, 3>(x));
  fg::dynamic_session s(g);
  CHECK(values(s.run(first, fg::feed(x, floats{1, 2, 3, 4}))) == floats{1, 2, 3});
  try {
    (void)s.run(first, fg::feed(x, floats{1, 2}));
    FAIL("no error");
  } catch (const fg::feed_error& e) {
    CHECK(e.why() == fg::problem::slice_bounds);
    CHECK(std::string(e.what()).find("first") != std::string::npos);
  }
}

TEST_CASE("more parts than a node has results") {
  fg::graph g;
  auto x = g.placeholder<double, 2, 100>("x");
  const auto parts = fg::unstack<1>(x);
  auto sum = reduce_sum(square(parts[0]));
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + reduce_sum(parts[i]) * static_cast<double>(i);
  auto dx = gradients(sum, x);
  fg::dynamic_session s(g);
  fg::ndarray<double, 2, 100> a;
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = static_cast<double>(i);
  const auto [last, d] = s.run(parts[99], dx, fg::feed(x, a));
  CHECK(last(1) == 199);
  CHECK(d(1, 0) == 200);
  CHECK(d(0, 57) == 57);
}

TEST_CASE("random numbers follow from the seed and the step, not from the threads") {
  fg::graph g;
  auto u = fg::random_uniform<float, 1000>(g, -1, 1);
  auto n = fg::random_normal<double, 10, 11>(g);
  auto t = fg::truncated_normal<float, 100>(g);
  auto b = fg::bernoulli<bool, 100>(g, 0.25);
  auto p = fg::random_permutation<50>(g);
  auto again = fg::random_uniform<float, 1000>(g, -1, 1);
  const auto step = [&](fg::dynamic_session& s) { return s.run(u, n, t, b, p, again); };
  fg::dynamic_session one(g, {.threads = 1, .seed = 5}), two(g, {.threads = 2, .seed = 5}), other(g, {.seed = 6});
  const auto first = step(one);
  CHECK(first == step(two));
  const auto second = step(one);
  CHECK(second == step(two));
  CHECK_FALSE(std::get<0>(first) == std::get<0>(second));
  CHECK_FALSE(std::get<4>(first) == std::get<4>(second));
  CHECK_FALSE(first == step(other));
  CHECK_FALSE(std::get<0>(first) == std::get<5>(first));  // equal nodes are not merged
  CHECK(std::all_of(std::get<0>(first).begin(), std::get<0>(first).end(), [](float x) { return x >= -1 && x < 1; }));
}

TEST_CASE("a shuffle moves whole rows, and its gradient moves them back") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = shuffle(x);
  auto dx = gradients(reduce_sum(y * square(stop_gradient(y))), x);
  fg::dynamic_session s(g, {.seed = 3});
  fg::ndarray<float, batch, 2> a(batch(20));
  for (std::int64_t i = 0; i < 40; ++i) a.data()[i] = static_cast<float>(i);
  const auto [shuffled, d] = s.run(y, dx, fg::feed(x, a));
  floats firsts;
  for (std::int64_t i = 0; i < 20; ++i) {
    CHECK(shuffled(i, 1) == shuffled(i, 0) + 1);
    firsts.push_back(shuffled(i, 0));
  }
  CHECK_FALSE(std::is_sorted(firsts.begin(), firsts.end()));
  std::sort(firsts.begin(), firsts.end());
  for (std::size_t i = 0; i < 20; ++i) CHECK(firsts[i] == a.data()[2 * i]);
  for (std::int64_t i = 0; i < 40; ++i) CHECK(d.data()[i] == a.data()[i] * a.data()[i]);
}

namespace {

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  const auto [values, positions] = fg::top_k<2>(x);
  g.name("values", values);
  g.name("positions", positions);
  g.name("gradient", gradients(reduce_sum(values * fg::range<float, 2>(g, 1, 1)), x));
  g.name("noise", x + random_normal<float, batch, 4>(g, 0, 2));
  const auto parts = fg::split<1, 2>(x);
  g.name("swapped", fg::concat<1>(parts[1], parts[0]));
});

}  // namespace

TEST_CASE("several results, random numbers and parts in a constexpr model") {
  fg::session<model> s({.threads = 1, .seed = 9}), two({.threads = 2, .seed = 9});
  const fg::ndarray<float, batch, 4> x{{4, 1, 3, 2}, {5, 8, 6, 7}};
  const auto [v, p, d, w] = s.run<"values", "positions", "gradient", "swapped">(fg::feed<"x">(x));
  CHECK(values(v) == floats{4, 3, 8, 7});
  CHECK(std::vector<std::int64_t>(p.begin(), p.end()) == std::vector<std::int64_t>{0, 2, 1, 3});
  CHECK(values(d) == floats{1, 0, 2, 0, 0, 1, 0, 2});
  CHECK(values(w) == floats{3, 2, 4, 1, 6, 7, 5, 8});
  fg::session<model> fresh({.threads = 1, .seed = 9});
  const auto noise = fresh.run<"noise">(fg::feed<"x">(x));
  CHECK(noise == two.run<"noise">(fg::feed<"x">(x)));
  CHECK_FALSE(noise == fresh.run<"noise">(fg::feed<"x">(x)));
}
