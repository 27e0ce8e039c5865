// Convolutions with batch normalisation by gradient descent, as PyTorch trains them; then with the running statistics
// that training has collected.
#include <cstdint>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

#include "models/training.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

// A tenth of what this batch has joins what is remembered. PyTorch remembers the variance as divided by n - 1.
template <fg::any_tensor A, fg::any_tensor B>
constexpr auto remember(const A& average, const B& now, double correction = 1) {
  return assign(average, average * 0.9 + now * (0.1 * correction));
}

constexpr auto cnn = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 10, 10, 3>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 3, 3, 3, 8>("w1");
  auto w2 = g.variable<float, 3, 3, 8, 12>("w2");
  auto scale1 = g.variable<float, 8>("scale1"), offset1 = g.variable<float, 8>("offset1");
  auto scale2 = g.variable<float, 12>("scale2"), offset2 = g.variable<float, 12>("offset2");
  auto w3 = g.variable<float, 12, 4>("w3");
  auto b3 = g.variable<float, 4>("b3");
  constexpr auto kept = fg::training::frozen;
  auto mean1 = g.variable<float, 8>("mean1", fg::init::zeros(), kept);
  auto variance1 = g.variable<float, 8>("variance1", fg::init::ones(), kept);
  auto mean2 = g.variable<float, 12>("mean2", fg::init::zeros(), kept);
  auto variance2 = g.variable<float, 12>("variance2", fg::init::ones(), kept);

  auto head = [&](auto h) {
    auto dropped = dropout(relu(h), 0.0);
    auto logits = matmul(reduce_mean<1, 2>(dropped), w3) + b3;
    return reduce_mean(softmax_cross_entropy_with_logits(logits, y));
  };
  auto first = conv2d<fg::conv{.padding = fg::same}>(x, w1);  // [batch, 10, 10, 8]
  auto n1 = batch_norm(first, scale1, offset1);
  auto n2 = batch_norm(conv2d(max_pool(relu(n1.y)), w2), scale2, offset2);  // [batch, 3, 3, 12]
  auto loss = g.name("loss", head(n2.y));
  auto step = fg::gradient_descent(0.1).minimize(loss);
  g.name("train", group(step, remember(mean1, n1.mean), remember(variance1, n1.variance, 800.0 / 799.0),
                        remember(mean2, n2.mean), remember(variance2, n2.variance, 72.0 / 71.0)));

  auto e1 = batch_norm(first, scale1, offset1, mean1, variance1);
  g.name("evaluated", head(batch_norm(conv2d(max_pool(relu(e1)), w2), scale2, offset2, mean2, variance2)));
});

std::vector<float> around_one(std::size_t n, std::uint32_t salt) {
  std::vector<float> result = bench::numbers(n, salt, 0.2f);
  for (float& v : result) v += 1;
  return result;
}

}  // namespace

TEST_CASE("a CNN with batch normalisation has PyTorch's losses") {
  const auto golden = models::expected("cnn");
  const models::batches<float> x{bench::numbers(4 * 8 * 10 * 10 * 3, 0, 1)};
  const models::batches<std::int64_t> y{bench::integers(4 * 8, 1, 4)};
  fg::session<cnn> s({.threads = 2});
  s.set<"w1">(bench::numbers(3 * 3 * 3 * 8, 2, 0.3f));
  s.set<"w2">(bench::numbers(3 * 3 * 8 * 12, 3, 0.2f));
  s.set<"scale1">(around_one(8, 4));
  s.set<"offset1">(bench::numbers(8, 5, 0.2f));
  s.set<"scale2">(around_one(12, 6));
  s.set<"offset2">(bench::numbers(12, 7, 0.2f));
  s.set<"w3">(bench::numbers(12 * 4, 8, 0.5f));
  s.set<"b3">(bench::numbers(4, 9, 0.1f));
  models::follow(golden[0].values, [&](std::size_t i) -> float {
    return s.run<"loss", "train">(fg::feed<"x">(x(i)), fg::feed<"y">(y(i)));
  });
  const float evaluated = s.run<"evaluated">(fg::feed<"x">(x(0)), fg::feed<"y">(y(0)));
  CHECK(static_cast<double>(evaluated) == models::near(golden[1].values[0]));
  const auto mean = s.get<"mean1">();
  const auto variance = s.get<"variance1">();
  for (int i = 0; i < 8; ++i) {
    CHECK(static_cast<double>(mean(i)) == doctest::Approx(golden[2].values[static_cast<std::size_t>(i)]).epsilon(1e-3));
    CHECK(static_cast<double>(variance(i)) == models::near(golden[3].values[static_cast<std::size_t>(i)]));
  }
}
