// Programs of branches and loops, one inside another, made at random: their values are those of the same program run by
// hand, and their derivatives, of first and second order, are those of differences, however they are planned and run.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

// One program in two forms: run with T = double it computes, run with T = a handle it builds a graph.
struct by_hand {
  using value = double;
  double constant(double v) const { return v; }
  static double sin(double x) { return std::sin(x); }
  static double tanh(double x) { return std::tanh(x); }
  template <class Then, class Otherwise>
  static double cond(bool p, const Then& then, const Otherwise& otherwise) {
    return p ? then() : otherwise();
  }
  template <class Body>
  static std::tuple<double, double> turns(int n, bool, const Body& body, double a, double b) {
    for (int i = 0; i < n; ++i) std::tie(a, b) = body(a, b);
    return {a, b};
  }
};

struct by_graph {
  using value = fg::tensor<double>;
  fg::graph* g;
  value constant(double v) const { return g->constant<double>(v); }
  static value sin(value x) { return fg::sin(x); }
  static value tanh(value x) { return fg::tanh(x); }
  template <class Then, class Otherwise>
  static value cond(fg::tensor<bool> p, const Then& then, const Otherwise& otherwise) {
    return fg::cond(p, then, otherwise);
  }
  template <class Body>
  std::tuple<value, value> turns(int n, bool kept, const Body& body, value a, value b) const {
    const auto zero = g->constant<std::int32_t>(0);
    // A number is known while the graph is built, and then there is memory for so many turns; a value is not.
    const auto number = g->constant<std::int32_t>(n);
    const auto count = n % 2 == 0 ? number : fg::identity(number);
    const auto condition = [&](auto i, auto, auto) { return i < count; };
    const auto next = [&](auto i, auto x, auto y) { return std::tuple_cat(std::tuple(i + 1), body(x, y)); };
    const auto [i, x, y] = kept ? fg::while_loop(condition, next, zero, a, b)
                                : fg::while_loop(fg::checkpoint_every{2}, condition, next, zero, a, b);
    return {x, y};
  }
};

// The same seed makes the same program, whatever runs it. Branches hang on values that don't sit on the border.
template <class Runner>
class program {
 public:
  using value = typename Runner::value;
  program(const Runner& run, unsigned seed) : run_(run), seed_(seed) {}

  value operator()(value x, value y) const { return block(x, y, x * y, 0, 1); }

 private:
  // Numbers that depend on the place in the program alone: a body is built once and runs often.
  unsigned pick(unsigned place, unsigned salt, unsigned n) const {
    std::seed_seq s{seed_, place, salt};
    return static_cast<unsigned>(std::mt19937(s)()) % n;
  }

  value block(value a, value b, value c, int depth, unsigned place) const {
    value v = a;
    const unsigned lines = 2 + pick(place, 0, 3);
    for (unsigned k = 0; k < lines; ++k) {
      const value w = pick(place, 10 + k, 2) == 0 ? b : c;
      v = line(v, w, depth, place * 8 + k, pick(place, 20 + k, depth < 2 ? 7 : 4));
    }
    return v;
  }
  value line(value v, value w, int depth, unsigned place, unsigned kind) const {
    switch (kind) {
      case 0:
        return run_.sin(v + w);
      case 1:
        return run_.tanh(v * w) + 0.3;
      case 2:
        return v * 0.5 - w;
      case 3:
        return v * w * 0.7;
      case 4: {
        const double border = pick(place, 1, 2) == 0 ? -100 : 100;
        return run_.cond(
            v > border, [&] { return block(v, w, run_.sin(v), depth + 1, place * 2 + 1); },
            [&] { return block(w, v, run_.constant(0.4), depth + 1, place * 2 + 2); });
      }
      default: {
        const auto [a, b] = run_.turns(
            static_cast<int>(pick(place, 2, 4)), kind == 5,
            [&](value p, value q) {
              const value next = block(p, q, w, depth + 1, place * 2 + 3);
              return pick(place, 3, 2) == 0 ? std::tuple(next, p) : std::tuple(q, next);  // values change places
            },
            v, w);
        return run_.tanh(a + b * 0.5);
      }
    }
  }

  Runner run_;
  unsigned seed_;
};

double run_by_hand(unsigned seed, double x, double y) { return program<by_hand>({}, seed)(x, y); }

}  // namespace

TEST_CASE("programs at random: values and derivatives") {
  const double x0 = 0.6, y0 = -0.8, e = 1e-4;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    fg::graph g;
    const auto x = g.placeholder<double>("x"), y = g.placeholder<double>("y");
    const auto z = program<by_graph>({&g}, seed)(x, y);
    const auto [dx, dy] = fg::gradients(z, x, y);
    const auto ddx = fg::gradients(dx, x);
    REQUIRE(fg::verify(g.view()).why == fg::problem::none);
    const auto f = [&](double a, double b) { return run_by_hand(seed, a, b); };
    const double fx = (f(x0 + e, y0) - f(x0 - e, y0)) / (2 * e), fy = (f(x0, y0 + e) - f(x0, y0 - e)) / (2 * e);
    const double fxx = (f(x0 + e, y0) - 2 * f(x0, y0) + f(x0 - e, y0)) / (e * e);
    for (const bool parallel : {false, true}) {
      CAPTURE(parallel);
      fg::session_options o;
      o.threads = parallel ? 2 : 1;
      if (parallel) o.inter_op = fg::inter_op_policy::parallel;
      fg::dynamic_session s(g, o);
      const auto [z1, dx1, dy1, ddx1] = s.run(z, dx, dy, ddx, fg::feed(x, x0), fg::feed(y, y0));
      CHECK(z1 == doctest::Approx(f(x0, y0)).epsilon(1e-12));
      CHECK(dx1 == doctest::Approx(fx).epsilon(1e-5));
      CHECK(dy1 == doctest::Approx(fy).epsilon(1e-5));
      CHECK(ddx1 == doctest::Approx(fxx).epsilon(1e-3));
    }
  }
}
