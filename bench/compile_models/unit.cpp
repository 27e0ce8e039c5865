// File UNIT of UNITS of a program: a model of its own, and a session that trains it. File 0 has main.
#include <cstdint>
#include <cstdio>
#include <flowgraph.hpp>
#include <utility>
#include <vector>

namespace fg = flowgraph;

template <int I>
float train_unit();

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 64, 32 + UNIT>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, 32 + UNIT>("b1");
  auto w2 = g.variable<float, 32 + UNIT, 10>("w2", fg::init::glorot_uniform());
  auto b2 = g.variable<float, 10>("b2");
  auto logits = g.name("logits", matmul(relu(matmul(x, w1) + b1), w2) + b2);
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adagrad(0.05).minimize(loss));
});

}  // namespace

template <>
float train_unit<UNIT>() {
  fg::session<model> s({.threads = 1, .seed = 1});
  const std::vector<float> x(8 * 64, 0.5f);
  const std::vector<std::int64_t> y{0, 1, 2, 3, 4, 5, 6, 7};
  return s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
}

#if UNIT == 0
template <int... I>
float train_all(std::integer_sequence<int, I...>) {
  return (train_unit<I>() + ...);
}

int main() { std::printf("%g\n", static_cast<double>(train_all(std::make_integer_sequence<int, UNITS>{}))); }
#endif
