// The digits model, built when the program runs, and a session that trains it.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

constexpr fg::dim batch{"batch"};

int main() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 64, 32>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, 32>("b1");
  auto w2 = g.variable<float, 32, 10>("w2", fg::init::glorot_uniform());
  auto b2 = g.variable<float, 10>("b2");
  auto loss = reduce_mean(softmax_cross_entropy_with_logits(matmul(relu(matmul(x, w1) + b1), w2) + b2, y));
  auto train = fg::adagrad(0.05).minimize(loss);

  fg::dynamic_session s(g);
  const std::vector<float> images(8 * 64, 0.5f);
  const std::vector<std::int64_t> labels{0, 1, 2, 3, 4, 5, 6, 7};
  float last = 0;
  for (int i = 0; i < 10; ++i) last = s.run(loss, train, fg::feed(x, images), fg::feed("y", labels));
  std::printf("%g\n", static_cast<double>(last));
}
