// Dense layers by Nesterov's momentum, as PyTorch trains them; on one thread and on two.
#include <cstdint>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

#include "models/training.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto mlp = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 20>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h1 = tanh(matmul(x, g.variable<float, 20, 32>("w1")) + g.variable<float, 32>("b1"));
  auto h2 = relu(matmul(h1, g.variable<float, 32, 16>("w2")) + g.variable<float, 16>("b2"));
  auto logits = matmul(h2, g.variable<float, 16, 5>("w3")) + g.variable<float, 5>("b3");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::momentum(0.05, 0.9, true).minimize(loss));
});

}  // namespace

TEST_CASE("an MLP has PyTorch's losses") {
  const auto golden = models::expected("mlp");
  const models::batches<float> x{bench::numbers(4 * 16 * 20, 0, 1)};
  const models::batches<std::int64_t> y{bench::integers(4 * 16, 1, 5)};
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    fg::session<mlp> s({.threads = threads, .serial_below = 0});
    s.set<"w1">(bench::numbers(20 * 32, 2, 0.3f));
    s.set<"b1">(bench::numbers(32, 3, 0.1f));
    s.set<"w2">(bench::numbers(32 * 16, 4, 0.3f));
    s.set<"b2">(bench::numbers(16, 5, 0.1f));
    s.set<"w3">(bench::numbers(16 * 5, 6, 0.3f));
    s.set<"b3">(bench::numbers(5, 7, 0.1f));
    models::follow(golden[0].values, [&](std::size_t i) -> float {
      return s.run<"loss", "train">(fg::feed<"x">(x(i)), fg::feed<"y">(y(i)));
    });
    const auto bias = s.get<"b3">();
    for (int i = 0; i < 5; ++i)
      CHECK(static_cast<double>(bias(i)) == models::near(golden[1].values[static_cast<std::size_t>(i)]));
  }
}
