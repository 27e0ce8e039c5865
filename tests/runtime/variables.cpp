// How variables begin: the moments of every initialiser, names as identities, types that can't.
#include <flowgraph/engine/state/variables.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

struct moments {
  double mean = 0, deviation = 0, least = 1e300, most = -1e300;
};

template <class Array>
moments moments_of(const Array& a) {
  moments m;
  for (const auto x : a) {
    const auto v = static_cast<double>(static_cast<float>(x));
    m.mean += v / static_cast<double>(a.size());
    m.least = std::min(m.least, v);
    m.most = std::max(m.most, v);
  }
  for (const auto x : a) {
    const double d = static_cast<double>(static_cast<float>(x)) - m.mean;
    m.deviation += d * d / static_cast<double>(a.size());
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

template <class T = float>
moments begin(fg::initial_value initial) {
  fg::graph g;
  auto v = g.variable<T, 200, 50>("v", initial);
  fg::dynamic_session s(g, {.threads = 1, .seed = 5});
  return moments_of(s.get(v));
}

// What is said of a variable "v" of this type and shape, behind the file and line.
template <class T, auto... E, class Initial>
std::string refusal(const Initial& initial) {
  fg::graph g;
  try {
    g.variable<T, E...>("v", initial);
  } catch (const fg::graph_error& e) {
    const std::string what = e.what();
    return what.substr(what.find('"'));
  }
  return "no exception";
}

}  // namespace

TEST_CASE("initialisers have the mean and spread that they promise") {
  CHECK(begin(fg::init::constant(2.5)).most == 2.5);
  CHECK(begin(fg::init::ones()).least == 1);
  const moments uniform = begin(fg::init::uniform(-1, 3));
  CHECK(uniform.mean == doctest::Approx(1).epsilon(0.05));
  CHECK(uniform.least >= -1);
  CHECK(uniform.most < 3);
  CHECK(uniform.most > 2.99);
  const moments normal = begin(fg::init::normal(1, 2));
  CHECK(normal.mean == doctest::Approx(1).epsilon(0.06));
  CHECK(normal.deviation == doctest::Approx(2).epsilon(0.03));
  const moments truncated = begin(fg::init::truncated_normal(0, 1));
  CHECK(truncated.least >= -2);
  CHECK(truncated.most <= 2);
  CHECK(truncated.deviation == doctest::Approx(0.8796).epsilon(0.03));
  // 200 inputs, 50 outputs.
  CHECK(begin(fg::init::glorot_uniform()).deviation == doctest::Approx(std::sqrt(2.0 / 250)).epsilon(0.03));
  CHECK(begin(fg::init::glorot_normal()).deviation == doctest::Approx(std::sqrt(2.0 / 250)).epsilon(0.03));
  CHECK(begin(fg::init::he_uniform()).deviation == doctest::Approx(std::sqrt(2.0 / 200)).epsilon(0.03));
  CHECK(begin(fg::init::he_normal()).deviation == doctest::Approx(std::sqrt(2.0 / 200)).epsilon(0.03));
  CHECK(begin(fg::init::lecun_uniform()).deviation == doctest::Approx(std::sqrt(1.0 / 200)).epsilon(0.03));
  CHECK(begin(fg::init::lecun_normal()).deviation == doctest::Approx(std::sqrt(1.0 / 200)).epsilon(0.03));
  CHECK(begin<double>(fg::init::normal(0, 1)).deviation == doctest::Approx(1).epsilon(0.03));
  CHECK(begin<fg::half>(fg::init::normal(0, 1)).deviation == doctest::Approx(1).epsilon(0.03));
  CHECK(begin<fg::bfloat16>(fg::init::uniform(0, 1)).mean == doctest::Approx(0.5).epsilon(0.03));
}

TEST_CASE("the window of a filter counts for its units") {
  const fg::detail::fan units({3, 3, 16, 32});
  CHECK(units.in == 9 * 16);
  CHECK(units.out == 9 * 32);
  CHECK(fg::detail::fan({7}).in == 7);
  CHECK(fg::detail::fan({}).out == 1);
}

TEST_CASE("a variable's first value follows its name, not its place in the graph") {
  fg::graph a, b;
  auto w = a.variable<float, 8>("w", fg::init::normal(0, 1));
  auto other = b.variable<float, 8>("other", fg::init::normal(0, 1));
  auto moved = b.variable<float, 8>("w", fg::init::normal(0, 1));
  fg::dynamic_session sa(a, {.seed = 9}), sb(b, {.seed = 9});
  CHECK(sa.get(w) == sb.get(moved));
  CHECK_FALSE(sa.get(w) == sb.get(other));
}

TEST_CASE("integers begin with constants and uniform numbers, nothing else") {
  fg::graph g;
  auto n = g.variable<int, 100>("n", fg::init::uniform(3, 6));
  auto t = g.variable<bool>("t", fg::init::ones());
  fg::dynamic_session s(g);
  for (const int x : s.get(n)) CHECK((x >= 3 && x < 6));
  CHECK(s.get(t)());
  CHECK(refusal<int, 2, 2>(fg::init::glorot_uniform()) ==
        "\"v\": a variable of this element type can't begin with random numbers of this kind");
  CHECK(refusal<int, 2, 2>(fg::init::orthogonal()) != "no exception");
  CHECK(refusal<bool, 2>(fg::init::uniform(0, 1)) != "no exception");
}

TEST_CASE("nonsense is refused where the variable is made") {
  CHECK(
      refusal<float, 3>(fg::init::identity()) ==
      "\"v\": a variable that begins as identity must be a matrix, and one that begins orthogonal needs two axes or more");
  CHECK(refusal<float, 3>(fg::init::orthogonal()) != "no exception");
  CHECK(refusal<float, 3>(fg::init::uniform(1, 1)) ==
        "\"v\": a uniform initial value needs a lower bound below the upper one, and a normal one a deviation of at "
        "least 0");
  CHECK(refusal<float, 3>(fg::init::uniform(0, std::nan(""))) != "no exception");
  CHECK(refusal<float, 3>(fg::init::normal(0, -1)) != "no exception");
  CHECK(refusal<float, 3>(fg::init::truncated_normal(std::nan(""), 1)) != "no exception");
  CHECK(refusal<float, 3>(fg::init::from(std::vector<float>(4))) ==
        "\"v\": the numbers that a variable begins with must have its extents");
  CHECK(refusal<float, 3, 2>(fg::init::from(fg::ndarray<float, 2, 3>())) != "no exception");
  const float rows[3][1] = {{1}, {2}, {3}};
  CHECK(refusal<float, 3>(fg::init::from(rows)) != "no exception");
}

TEST_CASE("an orthogonal variable keeps lengths and angles, times its gain") {
  const auto gram = [](const auto& a, double gain) {  // of the shorter side, by brute force
    const std::int64_t columns = a.dims().back(), rows = a.size() / columns;
    const std::int64_t n = std::min(rows, columns), length = std::max(rows, columns);
    const auto at = [&](std::int64_t k, std::int64_t i) {
      return static_cast<double>(a.data()[rows < columns ? k * columns + i : i * columns + k]);
    };
    double worst = 0;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = 0; q < n; ++q) {
        double dot = 0;
        for (std::int64_t i = 0; i < length; ++i) dot += at(p, i) * at(q, i);
        worst = std::max(worst, std::abs(dot - (p == q ? gain * gain : 0)));
      }
    return worst;
  };
  fg::graph g;
  auto square = g.variable<double, 40, 40>("square", fg::init::orthogonal());
  auto tall = g.variable<double, 50, 20>("tall", fg::init::orthogonal(2));
  auto wide = g.variable<float, 20, 50>("wide", fg::init::orthogonal());
  auto filter = g.variable<float, 3, 3, 4, 8>("filter", fg::init::orthogonal(0.5));  // [36, 8]
  auto single = g.variable<double, 2000, 1>("single", fg::init::orthogonal());
  fg::dynamic_session s(g, {.seed = 3});
  CHECK(gram(s.get(square), 1) < 1e-13);
  CHECK(gram(s.get(tall), 2) < 1e-13);
  CHECK(gram(s.get(wide), 1) < 1e-6);
  CHECK(gram(s.get(filter), 0.5) < 1e-6);
  // Uniform on the sphere: the coordinates of a long unit vector are nearly normal with deviation 1/sqrt(n).
  const moments m = moments_of(s.get(single));
  CHECK(std::abs(m.mean) < 3 / 2000.0);
  CHECK(m.deviation == doctest::Approx(std::sqrt(1 / 2000.0)).epsilon(0.001));
  // The trace of a random orthogonal matrix has mean 0 and variance 1; without the signs it would be far below 0.
  double sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    s.initialize(seed);
    double trace = 0;
    const auto q = s.get(square);
    for (int i = 0; i < 40; ++i) trace += q(i, i);
    sum += trace;
    squares += trace * trace;
  }
  CHECK(std::abs(sum / 200) < 0.25);
  CHECK(squares / 200 == doctest::Approx(1).epsilon(0.3));
}

TEST_CASE("identity, square or not") {
  fg::graph g;
  auto square = g.variable<float, 2, 2>("square", fg::init::identity());
  auto wide = g.variable<int, 2, 3>("wide", fg::init::identity(5));
  auto tall = g.variable<bool, 3, 2>("tall", fg::init::identity());
  fg::dynamic_session s(g);
  CHECK(s.get(square) == fg::ndarray<float, 2, 2>{{1, 0}, {0, 1}});
  CHECK(s.get(wide) == fg::ndarray<int, 2, 3>{{5, 0, 0}, {0, 5, 0}});
  CHECK(s.get(tall) == fg::ndarray<bool, 3, 2>{{true, false}, {false, true}, {false, false}});
}

namespace {

constexpr float table[2][3] = {{1, 2, 3}, {4, 5, 0.1f}};
constexpr std::array<std::int64_t, 2> counts{std::int64_t{1} << 60, -7};

constexpr auto begun = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 2, 3>("w", fg::init::from(table));
  auto n = g.variable<std::int64_t, 2>("n", fg::init::from(counts), fg::training::frozen);
  auto i = g.variable<float, 3, 3>("i", fg::init::identity(2));
  g.name("y", matmul(w, i));
  g.name("m", n + 1);
});
static_assert(begun.parameters() == 15);

}  // namespace

TEST_CASE("variables begin with given numbers, in both kinds of graph") {
  fg::session<begun> s;
  CHECK(s.get<"w">() == fg::ndarray<float, 2, 3>(table));
  CHECK(s.get<"n">() == fg::ndarray<std::int64_t, 2>(counts));  // exact beyond 2^53
  CHECK(s.run<"y">() == fg::ndarray<float, 2, 3>{{2, 4, 6}, {8, 10, 0.2f}});
  s.set<"w">(std::vector<float>(6));
  s.initialize(4);
  CHECK(s.get<"w">() == fg::ndarray<float, 2, 3>(table));

  fg::graph g;
  fg::ndarray<double, 2, 2> values{{1, 2}, {3, 4}};
  auto a = g.variable<double, 2, 2>("a", fg::init::from(values));
  auto b = g.variable<double, 4>("b", fg::init::from(std::vector<double>{5, 6, 7, 8}));
  auto h = g.variable<fg::half, 1>("h", fg::init::from(std::array<fg::half, 1>{fg::half(0.1f)}));
  values(0, 0) = 9;  // the graph has its own
  fg::dynamic_session d(g);
  CHECK(d.get(a)(0, 0) == 1);
  CHECK(d.get(b)(3) == 8);
  CHECK(d.get(h)(0).bits == fg::half(0.1f).bits);
}
