// Element-wise work that shares an instruction with what stands before or behind it: the same numbers as by hand, on
// one thread and on several, in a session of a constexpr model and in one of a graph that is built at run time.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};

constexpr auto build = [](fg::graph& g) {
  auto x = g.placeholder<float, batch, 19>("x");
  auto w = g.variable<float, 19, 13>("w", fg::init::uniform(-1.0, 1.0));
  auto b = g.variable<float, 13>("b", fg::init::uniform(-1.0, 1.0));
  auto p = matmul(x, w);
  auto y = g.name("y", relu(p + b) * 0.5f);
  g.name("all", reduce_sum(square(y - b)));
  g.name("rows", reduce_max<1>(exp(y) * 2.0f));
  g.name("columns", reduce_sum<0>(y * y - 1.0f));
  g.name("mean", reduce_mean(abs(y)));
  g.name("update", assign_sub(b, (b - 1.0f) * 0.25f));
  auto image = g.placeholder<float, batch, 7, 6, 3>("image");
  auto filter = g.variable<float, 3, 3, 3, 5>("filter", fg::init::uniform(-1.0, 1.0));
  auto shift = g.variable<float, 5>("shift", fg::init::uniform(-1.0, 1.0));
  g.name("convolved", tanh(conv2d<fg::conv{.padding = fg::same}>(image, filter) + shift));
};

constexpr auto model = fg::define(build);

std::vector<float> numbers(std::int64_t n, int seed) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>((i * 29 + seed) % 41) / 20.0f - 1.0f);
  return v;
}

struct by_hand {
  std::vector<float> y, rows, columns;
  double all = 0, mean = 0;

  by_hand(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& b) : columns(13) {
    std::vector<double> sums(13);
    const std::size_t n = x.size() / 19;
    for (std::size_t i = 0; i < n; ++i) {
      double greatest = -INFINITY;
      for (std::size_t j = 0; j < 13; ++j) {
        double p = b[j];
        for (std::size_t k = 0; k < 19; ++k) p += static_cast<double>(x[i * 19 + k]) * w[k * 13 + j];
        const double v = std::max(p, 0.0) * 0.5;
        y.push_back(static_cast<float>(v));
        all += (v - b[j]) * (v - b[j]);
        mean += std::abs(v);
        greatest = std::max(greatest, std::exp(v) * 2);
        sums[j] += v * v - 1;
      }
      rows.push_back(static_cast<float>(greatest));
    }
    mean /= static_cast<double>(n * 13);
    for (std::size_t j = 0; j < 13; ++j) columns[j] = static_cast<float>(sums[j]);
  }
};

template <class A>
std::vector<float> values(const A& a) {
  return {a.data(), a.data() + a.size()};
}
void check_near(const std::vector<float>& got, const std::vector<float>& expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]) / (1 + std::abs(expected[i])));
  CHECK(worst < 2e-5);
}

}  // namespace

TEST_CASE("what follows a product and what is reduced give the numbers done by hand") {
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    fg::session<model> s({.threads = threads, .seed = 7});
    // The second is large enough to be cut into parts.
    for (const std::int64_t n : {5, 1500}) {
      CAPTURE(threads);
      CAPTURE(n);
      const std::vector<float> x = numbers(n * 19, 3);
      const by_hand expected(x, values(s.get<"w">()), values(s.get<"b">()));
      const auto [y, all, rows, columns, mean] =
          s.run<"y", "all", "rows", "columns", "mean">(fg::feed<"x">(fg::ndarray<float, batch, 19>({n, 19}, x)));
      check_near(values(y), expected.y);
      check_near(values(rows), expected.rows);
      check_near(values(columns), expected.columns);
      CHECK(all == doctest::Approx(expected.all).epsilon(1e-5));
      CHECK(mean == doctest::Approx(expected.mean).epsilon(1e-5));
      // Each alone is another plan, in which nothing of y is kept.
      const fg::ndarray<float, batch, 19> fed({n, 19}, x);
      CHECK(s.run<"all">(fg::feed<"x">(fed)) == doctest::Approx(expected.all).epsilon(1e-5));
      CHECK(s.run<"mean">(fg::feed<"x">(fed)) == doctest::Approx(expected.mean).epsilon(1e-5));
      check_near(values(s.run<"rows">(fg::feed<"x">(fed))), expected.rows);
      check_near(values(s.run<"columns">(fg::feed<"x">(fed))), expected.columns);
      if (n == 1500) {
        const std::vector<float> bits = values(s.run<"columns">(fg::feed<"x">(fed)));
        if (threads == 1) first = bits;
        CHECK(bits == first);  // whatever the number of threads
      }
    }
  }
}

TEST_CASE("an update may be computed from the variable it changes") {
  fg::session<model> s({.threads = 1, .seed = 7});
  const std::vector<float> before = values(s.get<"b">());
  s.run<"update">();
  const std::vector<float> after = values(s.get<"b">());
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(after[i] == doctest::Approx(before[i] - (before[i] - 1) * 0.25f).epsilon(1e-6));
}

TEST_CASE("what follows a convolution") {
  fg::session<model> s({.threads = 2, .seed = 7});
  const std::int64_t n = 2;
  const std::vector<float> x = numbers(n * 7 * 6 * 3, 5);
  const std::vector<float> w = values(s.get<"filter">()), shift = values(s.get<"shift">());
  const auto y = values(s.run<"convolved">(fg::feed<"image">(fg::ndarray<float, batch, 7, 6, 3>({n, 7, 6, 3}, x))));
  std::vector<float> expected;
  for (std::int64_t image = 0; image < n; ++image)
    for (std::int64_t i = 0; i < 7; ++i)
      for (std::int64_t j = 0; j < 6; ++j)
        for (std::int64_t o = 0; o < 5; ++o) {
          double sum = shift[static_cast<std::size_t>(o)];
          for (std::int64_t u = 0; u < 3; ++u)
            for (std::int64_t v = 0; v < 3; ++v)
              for (std::int64_t c = 0; c < 3; ++c) {
                const std::int64_t a = i + u - 1, b = j + v - 1;
                if (a < 0 || a >= 7 || b < 0 || b >= 6) continue;
                sum += static_cast<double>(x[static_cast<std::size_t>(((image * 7 + a) * 6 + b) * 3 + c)]) *
                       w[static_cast<std::size_t>(((u * 3 + v) * 3 + c) * 5 + o)];
              }
          expected.push_back(static_cast<float>(std::tanh(sum)));
        }
  check_near(y, expected);
}

TEST_CASE("graphs that are built at run time do the same with tiles") {
  fg::graph g;
  build(g);
  fg::dynamic_session dynamic(g, {.threads = 2, .seed = 7});
  fg::session<model> compiled({.threads = 1, .seed = 7});
  const std::int64_t n = 33;
  const fg::ndarray<float, batch, 19> x({n, 19}, numbers(n * 19, 1));
  const auto [y, all, rows, columns] = compiled.run<"y", "all", "rows", "columns">(fg::feed<"x">(x));
  const auto fed = fg::feed("x", x);
  check_near(values(dynamic.run(dynamic.find<float, batch, 13>("y"), fed)), values(y));
  CHECK(dynamic.run(dynamic.find<float>("all"), fed) == doctest::Approx(all).epsilon(1e-5));
  check_near(values(dynamic.run(dynamic.find<float, batch>("rows"), fed)), values(rows));
  check_near(values(dynamic.run(dynamic.find<float, 13>("columns"), fed)), values(columns));
}

TEST_CASE("the plan says what runs together") {
  const auto text = [](const auto& plan) { return to_text(plan.view(), model.view()); };
  const std::string y = text(fg::plan_of<model, fg::fetch<"y">, fg::fetch<"x">>);
  CHECK(
      y.find("matmul(f0, v0, v1, c0) -> s0 : float[batch, 13] {0, 0} then [0 = add(y, c); 1 = relu(0); 2 = mul(1, d)] "
             "\"y\"") != std::string::npos);
  const std::string rows = text(fg::plan_of<model, fg::fetch<"rows">, fg::fetch<"x">>);
  CHECK(rows.find("reduce_max(-, s0, ") != std::string::npos);
  const std::string update = text(fg::plan_of<model, fg::fetch<"update">>);
  CHECK(update.find("assign_sub(v0, -, c0, c1) of [0 = sub(a, c); 1 = mul(0, d)]") != std::string::npos);
}
