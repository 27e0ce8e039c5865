// Sessions of a program that takes its kernels from flowgraph::compiled, beside plain loops in double precision. Run
// once for each instruction set.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <flowgraph.hpp>
#include <string_view>
#include <tuple>
#include <vector>

namespace fg = flowgraph;

namespace {

// A user's op with a kernel of its own, which no library has.
struct halve : fg::op<halve, "test_compiled_halve"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};

// A user's element-wise op, which is fused with the library's.
struct cube_function {
  template <class M, class X>
  static constexpr auto apply(const M&, const X& x) {
    return x * x * x;
  }
};
struct cube : fg::ops::unary<cube, "test_compiled_cube", cube_function> {};

}  // namespace

template <>
struct fg::cpu_kernel<halve> {
  using types = fg::type_list<float, double>;
  template <class T>
  static void run(const fg::kernel_args& k) {
    for (std::int64_t i = 0; i < k.out[0].size(); ++i) k.out[0].as<T>()[i] = k.in[0].as<T>()[i] / 2;
  }
};

namespace {

inline constexpr fg::dim batch{"batch"};

constexpr auto perceptron = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 7>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w = g.variable<float, 7, 19>("w");
  auto v = g.variable<float, 19, 5>("v");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(matmul(relu(matmul(x, w)), v), y)));
  g.name("train", fg::gradient_descent(0.5).minimize(loss));
});

constexpr auto chain = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 33>("x");
  auto row = g.placeholder<float, 33>("row");
  g.name("y", fg::apply<halve>(tanh(x * row + 1.0f) * sigmoid(x) + exp(-x * x)) * 3.0f + fg::apply<cube>(x));
});

constexpr auto product = fg::define([](fg::graph& g) {
  auto a = g.placeholder<float, 130, 70>("a");
  auto b = g.placeholder<float, 70, 150>("b");
  g.name("y", matmul(a, b));
});

constexpr auto checked = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  g.name("y", check_numerics(log(x), "log of x"));
});

std::vector<float> numbers(std::size_t n, int seed) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(std::sin(static_cast<double>(i) * 1.7 + seed) * 0.8);
  return v;
}

double perceptron_loss(const std::vector<float>& x, const std::vector<std::int64_t>& y, const std::vector<float>& w,
                       const std::vector<float>& v) {
  double loss = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double logits[5]{}, sum = 0;
    for (std::size_t h = 0; h < 19; ++h) {
      double z = 0;
      for (std::size_t j = 0; j < 7; ++j) z += static_cast<double>(x[i * 7 + j]) * w[j * 19 + h];
      for (std::size_t k = 0; k < 5; ++k) logits[k] += std::max(z, 0.0) * v[h * 5 + k];
    }
    for (const double l : logits) sum += std::exp(l);
    loss += std::log(sum) - logits[y[i]];
  }
  return loss / static_cast<double>(y.size());
}

}  // namespace

TEST_CASE("compiled: the instruction set that was asked for is the one that runs") {
  const std::string_view set = fg::instruction_set();
  CHECK((set == "x86-64" || set == "x86-64-v3" || set == "x86-64-v4" || set == "as-compiled"));
  if (const char* const asked = std::getenv("FLOWGRAPH_ISA")) CHECK(set == asked);
}

TEST_CASE("compiled: a perceptron's loss, and its gradients by what a step changes") {
  fg::session<perceptron> s({.threads = 1});
  const auto x = numbers(11 * 7, 1), w = numbers(7 * 19, 2), v = numbers(19 * 5, 3);
  std::vector<std::int64_t> y(11);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::int64_t>(i * 3 % 5);
  s.set<"w">(w);
  s.set<"v">(v);
  const float loss = s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
  CHECK(loss == doctest::Approx(perceptron_loss(x, y, w, v)).epsilon(1e-5));
  const auto trained = s.get<"w">();
  for (const std::size_t i : {0u, 40u, 132u}) {
    auto more = w, less = w;
    more[i] += 1e-3f;
    less[i] -= 1e-3f;
    const double slope = (perceptron_loss(x, y, more, v) - perceptron_loss(x, y, less, v)) /
                         (static_cast<double>(more[i]) - static_cast<double>(less[i]));
    CHECK((w[i] - trained.data()[i]) / 0.5 == doctest::Approx(slope).epsilon(1e-3));
  }
}

TEST_CASE("compiled: element-wise regions with rows repeated, with users' ops") {
  fg::session<chain> s({.threads = 1});
  const auto x = numbers(5 * 33, 4), row = numbers(33, 5);
  const auto y = s.run<"y">(fg::feed<"x">(x), fg::feed<"row">(row));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = x[i], z = std::tanh(a * row[i % 33] + 1) / (1 + std::exp(-a)) + std::exp(-a * a);
    CHECK(y.data()[i] == doctest::Approx(z / 2 * 3 + a * a * a).epsilon(1e-5));
  }
}

TEST_CASE("compiled: a product on two threads") {
  fg::session<product> s({.threads = 2, .serial_below = 0, .kernels = fg::kernels::eigen});
  const auto a = numbers(130 * 70, 6), b = numbers(70 * 150, 7);
  const auto y = s.run<"y">(fg::feed<"a">(a), fg::feed<"b">(b));
  for (const std::size_t i : {0u, 77u, 129u})
    for (const std::size_t j : {0u, 63u, 149u}) {
      double sum = 0;
      for (std::size_t k = 0; k < 70; ++k) sum += static_cast<double>(a[i * 70 + k]) * b[k * 150 + j];
      CHECK(y.data()[i * 150 + j] == doctest::Approx(sum).epsilon(1e-4));
    }
}

TEST_CASE("compiled: what a kernel throws is caught by its type") {
  fg::session<checked> s({.threads = 1});
  const std::vector<float> x{1, 2, -1};
  CHECK_THROWS_AS(s.run<"y">(fg::feed<"x">(x)), fg::execution_error);
}

TEST_CASE("compiled: a graph that is built at run time, with a loop and its derivative") {
  fg::graph g;
  auto x = g.placeholder<double>("x");
  auto [count, power] =
      while_loop([](auto i, auto) { return i < 5; }, [&](auto i, auto p) { return std::tuple(i + 1, p * x); },
                 g.constant<std::int32_t>(0), g.constant<double>(1));
  auto slope = gradients(power, x);
  fg::dynamic_session s(g, {.threads = 1});
  const auto [y, dy] = s.run(power, slope, fg::feed(x, 1.5));
  CHECK(y == doctest::Approx(std::pow(1.5, 5)));
  CHECK(dy == doctest::Approx(5 * std::pow(1.5, 4)));
}
