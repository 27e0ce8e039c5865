// Models that several tests run.
#pragma once
#include <cstdint>
#include <stdexcept>

#include <flowgraph/define.hpp>

namespace models {

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// The same network for both kinds of session.
constexpr auto build_mlp = [](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 8, 16>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, 16>("b1");
  auto w2 = g.variable<float, 16, 4>("w2", fg::init::he_normal());
  auto h = g.name("h", relu(matmul(x, w1) + b1));
  auto logits = g.name("logits", matmul(h, w2));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adagrad(0.1).minimize(loss));
};

inline constexpr auto mlp = fg::define(build_mlp);

}  // namespace models
