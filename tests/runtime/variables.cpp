// How variables begin: the moments of every initialiser, names as identities, types that can't.
#include <flowgraph/runtime/variables.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <flowgraph/runtime/dynamic_session.hpp>

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
  fg::graph bad;
  bad.variable<int, 2, 2>("counts", fg::init::glorot_uniform());
  try {
    fg::dynamic_session refused(bad);
    FAIL("no exception");
  } catch (const fg::argument_error& e) {
    CHECK(e.why() == fg::problem::needs_floating);
    CHECK(std::string(e.what()) == "variable \"counts\": int32[2, 2] can't begin with random numbers of this kind");
  }
}
