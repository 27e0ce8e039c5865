// What a model says about itself before anything runs.
#include <doctest/doctest.h>

#include <flowgraph/define.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

template <int Hidden>
constexpr void mlp(fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 64, Hidden>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, Hidden>("b1");
  auto w2 = g.variable<float, Hidden, 10>("w2", fg::init::glorot_uniform());
  auto logits = g.name("logits", matmul(relu(matmul(x, w1) + b1), w2));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adagrad(0.05).minimize(loss));
}
inline constexpr auto small = fg::define([](fg::graph& g) { mlp<32>(g); });
inline constexpr auto large = fg::define([](fg::graph& g) { mlp<64>(g); });
inline constexpr auto again = fg::define([](fg::graph& g) { mlp<32>(g); });

static_assert(small.parameters() == 64 * 32 + 32 + 32 * 10);
static_assert(small.state_bytes() == 2 * 4 * small.parameters(), "Adagrad keeps one number for each parameter");
static_assert(small.nodes() == large.nodes());
static_assert(small.fingerprint() == again.fingerprint() && small.fingerprint() != large.fingerprint());

// Inference holds the hidden layer and the logits; training keeps more. Memory follows the extents that are bound.
static_assert(small.peak_bytes<"logits">(batch(32)) >= 32 * (32 + 10) * 4);
static_assert(small.peak_bytes<"logits">(batch(32)) < small.peak_bytes<"loss", "train">(batch(32)));
static_assert(small.peak_bytes<"logits">(batch(64)) == 2 * small.peak_bytes<"logits">(batch(32)));

// Two products, a bias and a relu.
static_assert(small.flops<"logits">(batch(8)) == 8 * (2 * 64 * 32 + 2 * 32 * 10 + 2 * 32));
static_assert(small.flops<"train">(batch(8)) > 2 * small.flops<"logits">(batch(8)));

TEST_CASE("questions that have no answer throw") {
  CHECK_THROWS_AS((void)small.peak_bytes(), fg::feed_error);
  CHECK_THROWS_AS((void)small.flops<"loss">(), fg::feed_error);
  CHECK_THROWS_AS((void)small.peak_bytes<"nothing">(batch(1)), fg::name_error);
}
