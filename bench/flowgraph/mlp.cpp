// Training steps of networks of dense layers, by gradient descent.
#include <cstddef>
#include <memory>
#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto small = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h = relu(matmul(x, g.variable<float, 64, 32>("w1")) + g.variable<float, 32>("b1"));
  auto logits = matmul(h, g.variable<float, 32, 10>("w2")) + g.variable<float, 10>("b2");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::gradient_descent(0.01).minimize(loss));
});

inline constexpr auto large = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 784>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h1 = relu(matmul(x, g.variable<float, 784, 1024>("w1")) + g.variable<float, 1024>("b1"));
  auto h2 = relu(matmul(h1, g.variable<float, 1024, 1024>("w2")) + g.variable<float, 1024>("b2"));
  auto logits = matmul(h2, g.variable<float, 1024, 10>("w3")) + g.variable<float, 10>("b3");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::gradient_descent(0.01).minimize(loss));
});

template <class Session>
bench::step training(std::shared_ptr<Session> s, std::size_t rows, std::size_t columns) {
  return [s, x = bench::numbers(rows * columns, 0, 1), y = bench::integers(rows, 9, 10)] {
    return s->template run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
  };
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"mlp_small",
                        [](int threads) {
                          auto s = bench::prepared<small>(threads);
                          s->set<"w1">(bench::numbers(64 * 32, 1, 0.1f));
                          s->set<"w2">(bench::numbers(32 * 10, 2, 0.1f));
                          return training(s, 32, 64);
                        }},
                       {"mlp_large", [](int threads) {
                          auto s = bench::prepared<large>(threads);
                          s->set<"w1">(bench::numbers(784 * 1024, 1, 0.05f));
                          s->set<"w2">(bench::numbers(1024 * 1024, 2, 0.05f));
                          s->set<"w3">(bench::numbers(1024 * 10, 3, 0.05f));
                          return training(s, 128, 784);
                        }}});
}
